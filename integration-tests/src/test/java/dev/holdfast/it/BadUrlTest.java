package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mistakes of users in a URL of Redlock: the message shows it, and what is right. */
@ForOneDriver
class BadUrlTest {
  private final Backend backend;

  BadUrlTest(Backend backend) {
    this.backend = backend;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "redlock:redsi://h | redsi | redis://",
        "redlock:redis://h?nodeTimout=50ms | nodeTimout | nodeTimeout",
        "redlock:redis://h,redis://h:6379 | h:6379 | list each server once",
        "redlock:redis://h?nodeTimeout=50 | 50 | 50ms",
        "redlock:redis://h?nodeTimeout=50lightyears | lightyears | ms",
        "redlock:redis://[::1:6379 | [::1:6379 | ]",
        "redlock:redis://h?nodeTimeout=0ms | nodeTimeout | more than zero",
        "redlock:redis://h?connect=sometimes | sometimes | connect=lazy",
        "redlock:redis://h?drift=150% | 150% | 0% to 100%",
        "redluck:redis://h | redluck | redlock",
      })
  @Rule({"ERR-4", "DISC-4"})
  void aWrongUrlIsShownWithWhatIsRight(String url, String offending, String right) {
    String ofBackend = url.replace("redlock:", backend.urlPrefix());

    assertThatThrownBy(() -> LockManager.open(ofBackend))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(offending)
        .hasMessageContaining(right);
  }
}
