package dev.holdfast.legacy.setnx;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FoundStampTest {
  private static final Instant SEEN = Instant.ofEpochSecond(1_700_000_000);

  @Test
  void isLiveIfItsTimeWasStillToComeWhenItWasSeen() {
    assertThat(stamp("lock.a", "1700000001").wasLive()).isTrue();
    assertThat(stamp("lock.a", "1700000000").wasLive()).isFalse();
    assertThat(stamp("lock.a", "1699999999999").wasLive()).isFalse();
  }

  @Test
  void aTimeMoreThanAYearAheadIsNoStamp() {
    assertThat(FoundStamp.of("a", Long.toString(1_700_000_000L + 366 * 86_400), SEEN)).isPresent();
    assertThat(FoundStamp.of("a", Long.toString(1_700_000_001L + 366 * 86_400), SEEN)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock.foo", "lock:{a b}", "größe", "锁", "a\\b", "a\"b", ""})
  void aNameThatIsTextIsShownAsItIs(String name) {
    assertThat(named(name)).isEqualTo(name);
  }

  @Test
  void aNameThatMovesTheCursorOrLooksQuotedIsQuoted() {
    assertThat(named("a\nlock.b  live")).isEqualTo("\"a\\x0alock.b  live\"");
    assertThat(named("\u001b[2J")).isEqualTo("\"\\x1b[2J\"");
    assertThat(named("a\u202eb")).isEqualTo("\"a\\xe2\\x80\\xaeb\"");
    assertThat(named("\"a\"")).isEqualTo("\"\\\"a\\\"\"");
  }

  private static String named(String text) {
    String key = new String(text.getBytes(UTF_8), ISO_8859_1);
    return stamp(key, "1700000000").name();
  }

  private static FoundStamp stamp(String key, String value) {
    return FoundStamp.of(key, value, SEEN).orElseThrow();
  }
}
