package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockUrlOptionsTest {
  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({
    "7ns, PT0.000000007S",
    "7us, PT0.000007S",
    "50ms, PT0.05S",
    "30s, PT30S",
    "5m, PT5M",
    "24h, PT24H",
    "2d, PT48H",
    "0ms, PT0S",
    "999999999999999999s, PT277777777777777H46M39S",
  })
  void aDurationHasItsUnitInTheText(String written, Duration duration) {
    assertThat(url(written).duration("x", Duration.ofDays(9))).isEqualTo(duration);
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          50       ; '50' has no unit: write 50ms or 50s (ns us ms s m h d)
          50sec    ; '50sec' has no such unit: the units are ns, us, ms, s, m, h and d
          50MS     ; '50MS' has no such unit
          -5ms     ; '-5ms' is negative: write zero or more
          -5       ; '-5' is negative: write zero or more
          1.5s     ; '1.5s' is not a duration: write a whole number
          ms       ; 'ms' is not a duration
          ''       ; '' is not a duration
          1234567890123456789ns ; is not a duration: write a whole number of at most 18 digits
          999999999999999999d ; is longer than a duration can be
          """)
  void invalidDurationIsRefusedWithValidExamples(String written, String message) {
    assertThatThrownBy(() -> url(written).duration("x", Duration.ZERO))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("option x: ")
        .hasMessageContaining(message);
  }

  @Test
  void theMarkIsUnderTheValue() {
    LockUrl url = LockUrl.parse("memory:?a=1&nodeTimeout=50&b=2", Map.of());

    assertThatThrownBy(() -> url.duration("nodeTimeout", Duration.ZERO))
        .hasMessage(
            """
            option nodeTimeout: '50' has no unit: write 50ms or 50s (ns us ms s m h d)
              memory:?a=1&nodeTimeout=50&b=2
                                      ^^""");
  }

  @Test
  void aValueGivenBesideTheUrlIsShownAlone() {
    LockUrl url = LockUrl.parse("memory:?nodeTimeout=50ms", Map.of("nodeTimeout", "50"));

    assertThatThrownBy(() -> url.duration("nodeTimeout", Duration.ZERO))
        .hasMessage(
            """
            option nodeTimeout: '50' has no unit: write 50ms or 50s (ns us ms s m h d)
              nodeTimeout=50
                          ^^""");
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"true, true", "ON, true", "yes, true", "false, false", "Off, false", "no, false"})
  void aFlagIsOnOrOff(String written, boolean flag) {
    assertThat(url(written).flag("x", !flag)).isEqualTo(flag);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0, 0", "-12, -12", "999999999999999999, 999999999999999999"})
  void aNumberIsWhole(String written, long number) {
    assertThat(url(written).number("x", 7)).isEqualTo(number);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"0%, 0", "1%, 0.01", "0.5%, 0.005", "100%, 1", "1%25, 0.01"})
  void aPercentageIsAShare(String written, double share) {
    assertThat(url(written).percent("x", 7)).isEqualTo(share);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({"eager, true", "lazy, false"})
  void aWordIsTheFirstOrTheSecond(String written, boolean first) {
    assertThat(url(written).isFirst("x", "eager", "lazy")).isEqualTo(first);
    assertThat(url(written).isFirst("absent", "eager", "lazy")).isTrue();
  }

  @Test
  void wordOutsideTheTwoChoicesIsRefused() {
    assertThatThrownBy(() -> url("soon").isFirst("x", "eager", "lazy"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("option x: 'soon' is neither: write x=eager or x=lazy");
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource({"1", "1.%", "-1%", "101%", "100.1%", "x%", "%25"})
  void aWrongPercentageIsRefused(String written) {
    assertThatThrownBy(() -> url(written).percent("x", 0))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("is not a percentage: write 0% to 100%, such as 1% or 0.5%");
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource({"1.5", "+1", "0x10", "''", "1234567890123456789", "١"})
  void aWrongNumberIsRefused(String written) {
    assertThatThrownBy(() -> url(written).number("x", 0))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("is not a whole number");
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource({"1", "''", "tru"})
  void aWrongFlagIsRefused(String written) {
    assertThatThrownBy(() -> url(written).flag("x", true))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("is neither true (on, yes) nor false (off, no)");
  }

  @Test
  void anOptionThatWasNotGivenHasItsDefault() {
    LockUrl url = LockUrl.parse("memory:", Map.of());

    assertThat(url.duration("x", Duration.ofMillis(3))).isEqualTo(Duration.ofMillis(3));
    assertThat(url.text("x", "t")).isEqualTo("t");
    assertThat(url.flag("x", true)).isTrue();
    assertThat(url.number("x", 4)).isEqualTo(4);
    assertThat(url.percent("x", 0.5)).isEqualTo(0.5);
  }

  @Test
  void textIsPercentDecodedInAUrlAndTakenAsItIsBesideOne() {
    LockUrl url =
        LockUrl.parse("memory:?a=x%26y%3D%C3%A4%23=z&b=&c=ä%", Map.of("d", "x%26 #&=@", "e", ""));

    assertThat(url.text("a", "?")).isEqualTo("x&y=ä#=z");
    assertThat(url.text("b", "?")).isEmpty();
    assertThat(url.text("c", "?")).isEqualTo("ä%");
    assertThat(url.text("d", "?")).isEqualTo("x%26 #&=@");
    assertThat(url.text("e", "?")).isEmpty();
  }

  @Test
  void optionsBesideTheUrlOverrideItsOwn() {
    LockUrl url = LockUrl.parse("memory:?a=1&b=2", Map.of("b", "3", "c", "4"));

    assertThat(url.number("a", 0)).isEqualTo(1);
    assertThat(url.number("b", 0)).isEqualTo(3);
    assertThat(url.number("c", 0)).isEqualTo(4);
  }

  @Test
  void unknownOptionIsRefusedWithTheNearestAndAllKnownOptions() {
    LockUrl url = LockUrl.parse("memory:?fencing=on&nodeTimout=50ms", Map.of());

    assertThatThrownBy(
            () -> url.requireKnownOptions(Set.of("fencing", "nodeTimeout", "connectTimeout")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            """
            there is no option 'nodeTimout'; the nearest is nodeTimeout; all are [connectTimeout, fencing, nodeTimeout]
              memory:?fencing=on&nodeTimout=50ms
                                 ^^^^^^^^^^""");
  }

  @Test
  void anUnknownOptionBesideTheUrlIsRefusedToo() {
    LockUrl url = LockUrl.parse("memory:", Map.of("KEYPREFIX", "x"));

    assertThatThrownBy(() -> url.requireKnownOptions(Set.of("keyPrefix", "fencing")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("there is no option 'KEYPREFIX'; the nearest is keyPrefix");
  }

  @Test
  void anOptionOfABackendWithoutOptionsIsRefused() {
    assertThatThrownBy(() -> url("1").requireKnownOptions(Set.of()))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("there is no option 'x'; there are none here");
  }

  @Test
  void knownOptionsAreLetPass() {
    LockUrl url = LockUrl.parse("memory:?a=1", Map.of("b", "2"));

    url.requireKnownOptions(Set.of("a", "b", "c"));
  }

  @Test
  void aBackendCanRefuseAValueItself() {
    LockUrl url = LockUrl.parse("memory:?x=90s", Map.of());

    assertThat(url.wrongOption("x", "is above maxTtl: give at most 60s"))
        .hasMessage(
            """
            option x: '90s' is above maxTtl: give at most 60s
              memory:?x=90s
                        ^^^""");
    assertThat(url.wrongOption("y", "is needed")).hasMessage("option y of memory:?x=90s is needed");
  }

  private static LockUrl url(String value) {
    return LockUrl.parse("memory:?x=" + value, Map.of());
  }
}
