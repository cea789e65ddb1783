package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockConfigurationException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.arbitraries.StringArbitrary;

class LockUrlPropertiesTest {
  record Node(boolean tls, Optional<String> user, String password, String host, int port, int db) {
    String written() {
      String credentials =
          user.map(u -> encoded(u) + (password.isEmpty() ? "" : ":" + encoded(password)) + "@")
              .orElse("");
      return (tls ? "rediss://" : "redis://")
          + credentials
          + host
          + (port == 6379 ? "" : ":" + port)
          + (db == 0 ? "" : "/" + db);
    }
  }

  record Parts(
      String scheme, Optional<String> driver, List<Node> nodes, Map<String, String> options) {
    String written() {
      return scheme
          + ":"
          + driver.map(d -> d + ":").orElse("")
          + nodes.stream().map(Node::written).collect(Collectors.joining(","))
          + options.entrySet().stream()
              .map(option -> option.getKey() + "=" + encoded(option.getValue()))
              .collect(Collectors.joining("&", options.isEmpty() ? "" : "?", ""));
    }
  }

  @Property(tries = 2_000, edgeCases = EdgeCasesMode.NONE)
  void anyTextIsAUrlOrAConfigurationError(@ForAll("texts") String text) {
    try {
      LockUrl url = LockUrl.parse(text, Map.of());
      useAll(url);
    } catch (LockConfigurationException refused) {
      assertThat(refused).hasNoCause();
      assertThat(refused.getMessage()).isNotBlank();
    }
  }

  @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
  void anyOptionIsAValueOrAConfigurationError(@ForAll String name, @ForAll("texts") String value) {
    LockUrl url = LockUrl.parse("memory:", Map.of(name, value));

    assertThat(url.text(name, "?")).isEqualTo(value);
    List<Runnable> uses =
        List.of(
            () ->
                assertThat(url.duration(name, Duration.ZERO)).isGreaterThanOrEqualTo(Duration.ZERO),
            () -> assertThat(url.percent(name, 0)).isBetween(0.0, 1.0),
            () -> assertThat(url.number(name, 0)).isNotEqualTo(Long.MIN_VALUE),
            () -> assertThat(url.flag(name, true)).isIn(true, false));
    for (Runnable use : uses) {
      try {
        use.run();
      } catch (LockConfigurationException refused) {
        assertThat(refused.getMessage()).contains("option");
      }
    }
  }

  @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
  void aWrittenUrlIsReadBack(@ForAll("parts") Parts parts) {
    LockUrl url = LockUrl.parse(parts.written(), Map.of());

    assertThat(url.scheme()).isEqualTo(parts.scheme);
    assertThat(url.driver()).isEqualTo(parts.driver);
    assertThat(url.name()).isEmpty();
    assertThat(url.addresses())
        .contains(parts.nodes.stream().map(Node::written).collect(Collectors.joining(",")));
    parts.options.forEach((name, value) -> assertThat(url.text(name, "?")).isEqualTo(value));
    url.requireKnownOptions(parts.options.keySet());
  }

  /** Each start and each single letter, so that no pattern's square is left to chance. */
  @Property(generation = GenerationMode.EXHAUSTIVE)
  void oneLetterRepeatedToTheGreatestLengthCostsLittle(
      @ForAll("starts") String start, @ForAll("letters") char letter) {
    aTextOfTheGreatestLengthCostsLittle(
        start + String.valueOf(letter).repeat(8192 - start.length()));
  }

  @Property(tries = 100, edgeCases = EdgeCasesMode.NONE)
  void aTextOfTheGreatestLengthCostsLittle(@ForAll("repeated") String text) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = threads.getCurrentThreadCpuTime();
    try {
      useAll(LockUrl.parse(text, Map.of()));
    } catch (LockConfigurationException refused) {
      assertThat(refused.getMessage()).hasSizeLessThan(1000);
    }
    assertThat(Duration.ofNanos(threads.getCurrentThreadCpuTime() - start))
        .isLessThan(Duration.ofMillis(200));
  }

  private static void useAll(LockUrl url) {
    assertThat(url.scheme()).isNotEmpty();
    assertThat(url.toString()).isNotEmpty();
    int length = url.addresses().orElse("").length();
    assertThat(url.wrongAddress(0, length, "wrong")).hasMessageStartingWith("wrong\n  ");
    assertThat(url.quotedAddress(0, length)).startsWith("'").endsWith("'");
  }

  /** Wholly random, made of what URLs are made of, and right ones with one mistake or cut off. */
  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> pieces =
        Arbitraries.of(
            "redlock",
            "memory",
            "redis",
            "rediss",
            "lettuce",
            ":",
            "://",
            "//",
            "/",
            "@",
            "?",
            "&",
            "=",
            ",",
            "#",
            "%",
            "%40",
            "%4",
            "%FF",
            "[",
            "]",
            "[::1]",
            "h1",
            "h2",
            "6379",
            "0",
            "-1",
            "x",
            " ",
            "ä",
            "\uD83D\uDE00",
            "\uD83D",
            "\n",
            "\u0000",
            "50ms",
            "redis://h1:6379");
    Arbitrary<String> mixed = pieces.list().ofMaxSize(12).map(parts -> String.join("", parts));
    Arbitrary<String> wrong =
        Combinators.combine(parts(), pieces, Arbitraries.integers().greaterOrEqual(0))
            .as(
                (parts, piece, where) -> {
                  String url = parts.written();
                  int at = where % (url.length() + 1);
                  return url.substring(0, at) + piece + url.substring(at);
                });
    Arbitrary<String> cut =
        Combinators.combine(parts(), Arbitraries.integers().greaterOrEqual(0))
            .as((parts, where) -> parts.written().substring(0, where % parts.written().length()));
    return Arbitraries.oneOf(Arbitraries.strings().all(), mixed, wrong, cut);
  }

  @Provide
  Arbitrary<Character> letters() {
    return Arbitraries.of(":/@?&=,#%[]ah1.;| \n".chars().mapToObj(c -> (char) c).toList());
  }

  @Provide
  Arbitrary<String> starts() {
    return Arbitraries.of("", "redlock:", "redlock:redis://", "redlock:redis://h", "memory:?a=");
  }

  @Provide
  Arbitrary<String> repeated() {
    StringArbitrary few =
        Arbitraries.strings().withChars(":/@?&=,#%[]ah1.\n").ofMinLength(1).ofMaxLength(6);
    Arbitrary<String> ends = Arbitraries.of("", "@", "?", "redis://h@h");
    return Combinators.combine(starts(), few, ends)
        .as(
            (start, piece, end) ->
                start
                    + piece.repeat((8192 - start.length() - end.length()) / piece.length())
                    + end);
  }

  @Provide
  Arbitrary<Parts> parts() {
    StringArbitrary words =
        Arbitraries.strings().withCharRange('a', 'z').ofMinLength(1).ofMaxLength(8);
    Arbitrary<Map<String, String>> options =
        Arbitraries.maps(
                words,
                Arbitraries.strings().ofMaxLength(10).filter(LockUrlPropertiesTest::isUnicode))
            .ofMaxSize(4);
    return Combinators.combine(
            words,
            words.optional(),
            nodes().list().uniqueElements(n -> n.host + ":" + n.port).ofMinSize(1).ofMaxSize(5),
            options)
        .as(Parts::new);
  }

  private static Arbitrary<Node> nodes() {
    StringArbitrary secrets = Arbitraries.strings().ofMinLength(1).ofMaxLength(12);
    return Combinators.combine(
            Arbitraries.of(true, false),
            secrets.filter(text -> isUnicode(text) && text.indexOf(':') < 0).optional(),
            secrets.filter(LockUrlPropertiesTest::isUnicode).optional().map(p -> p.orElse("")),
            Arbitraries.of("h1", "redis-2.example.org", "10.0.0.3", "[::1]", "[2001:db8::7]"),
            Arbitraries.integers().between(1, 65535),
            Arbitraries.integers().between(0, 16))
        .as(Node::new);
  }

  private static boolean isUnicode(String text) {
    return StandardCharsets.UTF_8.newEncoder().canEncode(text);
  }

  /** Encodes as another program does: %20 for a space, and nothing of what is reserved left. */
  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
