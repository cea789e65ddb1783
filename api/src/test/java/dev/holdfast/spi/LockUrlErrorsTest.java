package dev.holdfast.spi;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.testsupport.MarkedUrl;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockUrlErrorsTest {
  /**
   * The part that must be marked stands between bars. {@code |^|} is a place where something is
   * missing.
   */
  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          # no scheme
          |^|                                         ; a URL starts with the kind of lock
          |redlock|                                   ; a URL starts with the kind of lock
          |^|:redis://h1                              ; a URL starts with the kind of lock
          |redis|://h1:6379                           ; write redlock:redis://host:6379
          |redlock|://h1:6379                         ; write redlock:redis://host:6379
          |memory|?a=b                                ; write redlock:redis://host:6379 or memory:name
          # unknown characters
          red|!|lock:redis://h1                       ; '!' cannot stand in a kind of lock
          redlock:let|*|tuce:redis://h1               ; '*' cannot stand in a driver
          redlock:a|:|b:redis://h1                    ; ':' cannot stand in a driver
          redlock:|:|redis://h1                       ; a driver is missing here
          memory:my| |name                            ; ' ' cannot stand in a name
          memory:caf|é|                               ; 'é' cannot stand in a name
          redlock:h1|:|6379,h2:6379                   ; nodes start with redis://
          # empty parts
          memory:?|^|                                 ; an option is written name=value
          memory:?a=b&|^|                             ; an option is written name=value
          memory:?a=b&|&|c=d                          ; an option is written name=value
          memory:?|=b|                                ; an option is written name=value
          memory:?|abc|&c=d                           ; an option is written name=value
          # options
          memory:?a=1&b=2&|a=3|                       ; option 'a' is given twice
          memory:?a=x|#|y                             ; must be percent-encoded in an option: write %23
          memory:?a=x| |y                             ; must be percent-encoded in an option
          memory:?a|/|b=c                             ; '/' cannot stand in the name of an option
          memory:?a=|%|zz                             ; not percent-encoded UTF-8
          memory:?a=|%|4&b=c                          ; not percent-encoded UTF-8
          memory:?a=x|%C3%28|                         ; not percent-encoded UTF-8
          """)
  void aWrongUrlIsShownWithAMarkUnderTheError(String marked, String message) {
    MarkedUrl wrong = MarkedUrl.parse(marked);

    LockConfigurationException error = errorOf(wrong.url());

    List<String> lines = linesOf(error);
    assertThat(lines.get(0)).contains(message);
    assertThat(lines.subList(1, 3)).isEqualTo(wrong.lines());
    assertThat(error).hasNoCause();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "memory:?password=a?b         | memory:?password=***",
        "memory:?password=a?b&c=d     | memory:?password=***&c=d",
        "memory:?password=a&b         | memory:?password=***",
        "memory:?x=1&secret=a?b=c&d   | memory:?x=1&secret=***",
      })
  void aPasswordInAnOptionIsHiddenAsAWhole(String url, String shown) {
    assertThat(new MaskedText(url)).hasToString(shown);
  }

  @Test
  void invisibleCharactersDoNotBreakTheLine() {
    assertThat(linesOf(errorOf("memory:a\n\u0000\u202Eb")).get(1))
        .isEqualTo("  memory:a\uFFFD\uFFFD\uFFFDb");
  }

  @Test
  void aUrlOf8192CharactersIsRead() {
    String url = "memory:" + "x".repeat(8192 - 7);

    assertThat(LockUrl.parse(url, Map.of()).name().orElseThrow()).hasSize(8185);
  }

  @Test
  void aLongerUrlIsRefusedWithoutBeingShown() {
    assertThat(errorOf("memory:" + "x".repeat(8192 - 6)))
        .hasMessage("the URL is of 8193 characters: give at most 8192");
  }

  @Test
  void aLongerOptionIsRefused() {
    assertThatThrownBy(() -> LockUrl.parse("memory:", Map.of("a", "x".repeat(8193))))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("an option is of 8193 characters: give at most 8192");
  }

  private static List<String> linesOf(LockConfigurationException error) {
    return requireNonNull(error.getMessage()).lines().toList();
  }

  private static LockConfigurationException errorOf(String url) {
    return catchThrowableOfType(
        LockConfigurationException.class, () -> LockUrl.parse(url, Map.of()));
  }
}
