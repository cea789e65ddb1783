package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The three drivers on one class path. */
class SeveralDriversTest {
  @Test
  @Rule("DISC-2")
  void aUrlWithoutADriverIsRefusedWithTheUrlsToWrite() {
    assertThatThrownBy(() -> LockManager.open("redlock:redis://127.0.0.1:1?connect=lazy"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("redlock:jedis:", "redlock:lettuce:", "redlock:redisson:");
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "lettuce", "redisson"})
  @Rule("DISC-1")
  void aUrlThatNamesOneGetsIt(String driver) {
    try (LockManager locks =
        LockManager.open("redlock:" + driver + ":redis://127.0.0.1:1?connect=lazy")) {
      assertThat(locks.capabilities()).isNotEmpty();
    }
  }

  @Test
  @Rule("DISC-2")
  void aDriverThatIsNotThereIsAnErrorThatListsThose() {
    assertThatThrownBy(() -> LockManager.open("redlock:vertx:redis://127.0.0.1:1"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("vertx", "jedis", "lettuce", "redisson");
  }
}
