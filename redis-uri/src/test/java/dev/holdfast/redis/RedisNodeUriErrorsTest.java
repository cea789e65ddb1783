package dev.holdfast.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.testsupport.MarkedUrl;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisNodeUriErrorsTest {
  /**
   * The part that must be marked stands between bars. {@code |^|} is a place where something is
   * missing.
   */
  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          redlock:redis://h|!|1                       ; '!' cannot stand in a host
          redlock:redis://h1|#|f                      ; '#' cannot stand in a host
          redlock:redis://h1,redis://h| |2            ; ' ' cannot stand in a host
          redlock:redis://h1,|,|redis://h2            ; a node is missing here
          redlock:redis://h1,|^|                      ; a node is missing here
          redlock:redis://|^|                         ; a host is missing
          redlock:redis://|:|6379                     ; a host is missing
          # nodes
          redlock:|http|://h1                         ; a node starts with redis:// or rediss://
          redlock:redis://h1:6379,|h2|:6379           ; a node starts with redis:// or rediss://
          redlock:redis://h1|:0|                      ; a port is a number from 1 to 65535
          redlock:redis://h1|:65536|,redis://h2       ; a port is a number from 1 to 65535
          redlock:redis://h1|:|                       ; a port is a number from 1 to 65535
          redlock:redis://[::1]|6379|                 ; a port is a number from 1 to 65535
          redlock:|redis-sentinel|://h1:26379         ; write redis://host:6379 for each master itself
          redlock:redis://h1,| redis|://h2            ; without spaces
          redlock:redis://h1| |,redis://h2            ; without spaces
          redlock:redis://h1:6379/0| |,redis://h2     ; without spaces
          redlock:redis://h1| redis://|h2             ; nodes are parted by commas alone
          redlock:redis://h1/|x|                      ; the number of a database
          redlock:redis://h1/|-1|,redis://h2          ; the number of a database
          redlock:redis://h1/|2147483648|             ; the number of a database
          redlock:redis://h1/|1/2|                    ; the number of a database
          redlock:redis://|[::1:6379|                 ; an IPv6 address ends with a bracket: write [::1]
          redlock:redis://|[::1|,redis://h2           ; an IPv6 address ends with a bracket
          redlock:redis://|[::x]|:6379                ; '[::x]' is neither the name of a host
          redlock:redis://|1.2.3|                     ; '1.2.3' is neither the name of a host nor an IP address
          redlock:redis://|h..1|                      ; 'h..1' is neither the name of a host
          redlock:redis://h1,|redis://h1|             ; listed before
          redlock:redis://h1,|rediss://H1:6379/1|     ; listed before
          redlock:redis://h1,redis://h2,|redis://h1:6379|,redis://h3 ; listed before
          """)
  void aWrongUrlIsShownWithAMarkUnderTheError(String marked, String message) {
    MarkedUrl wrong = MarkedUrl.parse(marked);

    LockConfigurationException error = errorOf(wrong.url());

    List<String> lines = linesOf(error);
    assertThat(lines.get(0)).contains(message);
    assertThat(lines.subList(1, 3)).isEqualTo(wrong.lines());
    assertThat(error).hasNoCause();
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          redlock:redis://u:p@ss@h1          ; redlock:redis://***@h1          ; write %40 for @
          redlock:redis://u:p/ss@h1          ; redlock:redis://***@h1          ; a / inside a password is written %2F
          redlock:redis://u:p?ss=1@h1        ; redlock:redis://***@h1          ; a ? inside a password is written %3F
          redlock:redis://u:1?ss=1@h1        ; redlock:redis://***@h1          ; a ? inside a password is written %3F
          redlock:redis://u:p#ss@h1          ; redlock:redis://***@h1          ; %23 for #
          redlock:redis://u:p,ss@h1          ; redlock:redis://***@h1          ; if this is a password, add @host
          redlock:redis://u:1,ss@h1          ; redlock:redis://***@h1          ; a comma inside a password is written %2C
          redlock:redis://u:p%ss@h1          ; redlock:redis://***@h1          ; after % come two hexadecimal digits
          redlock:redis://u:p%2@h1           ; redlock:redis://***@h1          ; after % come two hexadecimal digits
          redlock:redis://u:p%FF@h1          ; redlock:redis://***@h1          ; not percent-encoded UTF-8
          redlock:redis://u:pä@h1            ; redlock:redis://***@h1          ; must be percent-encoded
          redlock:redis://@h1                ; redlock:redis://@h1             ; the password is empty
          redlock:redis://:@h1               ; redlock:redis://***@h1          ; the password is empty
          redlock:redis://u:@h1              ; redlock:redis://***@h1          ; the password is empty
          redlock:redis://a%3Ab:p@h1         ; redlock:redis://***@h1          ; a user name cannot hold a colon
          redlock:redis://h1:secret          ; redlock:redis://h1:***          ; if this is a password, add @host
          redlock:redis://::1:6379           ; redlock:redis://:***            ; write redis://[::1]:6379
          redlock:redis://fe80::1            ; redlock:redis://fe80:***        ; write redis://[::1]:6379
          redlock:redis://u:p@::1:6379       ; redlock:redis://***@::1:6379     ; write redis://[::1]:6379
          redlock:redis://u:p@h1,redis://u:q@h2:x ; redlock:redis://***@h1,redis://***@h2:x ; a port is a number
          redlock:redis://u:p@h_1,redis://u:q@h_2:x ; redlock:redis://***@h_1,redis://***@h_2:x ; a port is a number
          """)
  void credentialsAreMaskedAndTheErrorExplainsHowToEncodeThem(
      String url, String shown, String message) {
    List<String> lines = linesOf(errorOf(url));

    assertThat(lines.get(0)).contains(message);
    assertThat(lines.get(1)).isEqualTo("  " + shown);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redlock:redis://h1;redis://h2",
        "redlock:redis://h1:6379;redis://h2:6379,redis://h3"
      })
  void errorForSemicolonsSuggestsCommas(String url) {
    List<String> lines = linesOf(errorOf(url));
    assertThat(lines.get(0))
        .isEqualTo("nodes are parted by commas alone: write redis://h1,redis://h2");
    assertThat(lines.get(1)).isEqualTo("  " + url);
  }

  @Test
  void markDoesNotShowTheErrorsPositionInAPassword() {
    assertThat(errorOf("redlock:redis://u:p/ssword@h1").getMessage())
        .isEqualTo(errorOf("redlock:redis://u:passwor/d@h1").getMessage())
        .endsWith("  redlock:redis://***@h1\n" + " ".repeat(18) + "^^^^^^");
  }

  @Test
  void errorInALongUrlShowsTheSurroundingText() {
    String nodes =
        IntStream.range(0, 300).mapToObj(i -> "redis://h" + i).collect(Collectors.joining(","));

    List<String> lines = linesOf(errorOf("redlock:" + nodes + ",redis://!," + nodes));

    assertThat(lines.get(1))
        .startsWith("  …")
        .endsWith("…")
        .contains("redis://h299,redis://!,redis://h0,");
    assertThat(lines.get(1).length()).isLessThan(200);
    assertThat(lines.get(1).charAt(lines.get(2).indexOf('^'))).isEqualTo('!');
  }

  private static List<String> linesOf(LockConfigurationException error) {
    return requireNonNull(error.getMessage()).lines().toList();
  }

  private static LockConfigurationException errorOf(String url) {
    return catchThrowableOfType(
        LockConfigurationException.class, () -> RedisNodeUri.all(LockUrl.parse(url, Map.of())));
  }
}
