package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.BeforeTry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Everything that a URL of locks shows, and the nodes in it. Passwords here hold letters that stand
 * in no message, so that not even a part of one gets by unseen.
 */
class PasswordsTest {
  private static final Set<String> TELLTALES = Set.of("Q", "X", "Z", "J", "W");

  private final List<String> shown = new ArrayList<>();

  @BeforeTry
  void nothingIsShownYet() {
    shown.clear();
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @ValueSource(
      strings = {
        "QXZJ",
        "QX@ZJ",
        "QX/ZJ",
        "QX?ZJ",
        "QX?ZJ=W",
        "1?QX=ZJ",
        "QX#ZJ",
        "QX,ZJ",
        "QX,redis://ZJ",
        "1,QX",
        "1,redis://QX,redis://",
        "1/QX",
        "QX:ZJ",
        "QX%ZJ",
        "QX%40ZJ",
        "QX%2540ZJ",
        "QX%2",
        "QX ZJ",
        "QX&ZJ",
        "1?a=b&QX",
        "QX\nZJ",
        "QX://ZJ",
        "1?from=redis://QX",
        "@QX",
        "QX@",
        "//QX",
        "?QX",
        "#QX",
        "%QX",
        "[QX",
        "QX]",
        "QXäZJ",
        "QX\uD83DZJ"
      })
  void aPasswordIsNeverShown(String password) {
    showEverything(password);

    assertThat(shown).isNotEmpty().filteredOn(PasswordsTest::shows).isEmpty();
  }

  @Property(tries = 100, edgeCases = EdgeCasesMode.NONE)
  void noPasswordIsEverShown(@ForAll("passwords") String password) {
    Assume.that(!readsAsNodes(password));

    showEverything(password);

    assertThat(shown).isNotEmpty().filteredOn(PasswordsTest::shows).isEmpty();
  }

  @Provide
  Arbitrary<String> passwords() {
    Arbitrary<String> letters = Arbitraries.of(TELLTALES);
    Arbitrary<String> nasty =
        Arbitraries.of(
            "@",
            "/",
            "?",
            "#",
            ",",
            ":",
            "%",
            "&",
            "=",
            "[",
            "]",
            "+",
            " ",
            "\\",
            "\"",
            "'",
            "\n",
            "\u0000",
            "ä",
            "\uD83D",
            "%40",
            "%4",
            "%2F",
            "://",
            "//",
            "redis://",
            "redis:",
            ",redis://",
            "?a=",
            "&b=",
            "1",
            "6379");
    return Arbitraries.frequencyOf(
            net.jqwik.api.Tuple.of(1, letters), net.jqwik.api.Tuple.of(1, nasty))
        .list()
        .ofMinSize(1)
        .ofMaxSize(10)
        .map(parts -> String.join("", parts))
        .filter(password -> TELLTALES.stream().anyMatch(password::contains));
  }

  /**
   * {@code x@y,redis://z} as a password makes a right URL of two nodes: it cannot be recognised.
   */
  private static boolean readsAsNodes(String password) {
    return password.matches("(?s).*(@|,redis://).*,redis://.*");
  }

  private void showEverything(String password) {
    String encoded = URLEncoder.encode(password, StandardCharsets.UTF_8).replace("+", "%20");
    for (String written : List.of(password, encoded)) {
      for (String node : nodesWith(written)) {
        show("redlock:" + node, Map.of());
        show("redlock:lettuce:" + node + "?a=5&b=x", Map.of());
        show(node, Map.of());
        show("migrate:both?from=setnx:" + node + "&to=redlock:redis://h9", Map.of());
        show("migrate:both?from=" + URLEncoder.encode(node, StandardCharsets.UTF_8), Map.of());
        show("migrate:both", Map.of("from", "setnx:" + node, "to", node));
      }
      show("redlock:redis://h1?password=" + encoded, Map.of("secret", written));
    }
  }

  private static List<String> nodesWith(String password) {
    List<String> nodes =
        new ArrayList<>(
            List.of(
                "redis://u:" + password + "@h1",
                "redis://:" + password + "@h1:70000",
                "redis://u:" + password + "@[::1]:1/2",
                "redis://h0,rediss://u:" + password + "@h1/1,redis://h2:7000",
                "redis://u:v@h0,redis://u:" + password + "@h0:x,redis://u:v@h2",
                "redis:/u:" + password + "@h1"));
    if (!password.contains(",redis://")) { // because it cannot be recognised either
      nodes.add("redis://" + password + "@h1");
    }
    return nodes;
  }

  private void show(String text, Map<String, String> options) {
    LockUrl url;
    try {
      url = LockUrl.parse(text, options);
    } catch (LockConfigurationException refused) {
      keep(refused);
      return;
    }
    shown.add(url.toString());
    keepErrorOf(() -> RedisNodeUri.all(url).forEach(this::show));
    for (String option : List.of("a", "b", "from", "to", "password")) {
      keepErrorOf(() -> url.duration(option, Duration.ZERO));
      keepErrorOf(() -> url.flag(option, true));
      keepErrorOf(() -> url.number(option, 0));
      keepErrorOf(() -> url.percent(option, 0));
      keep(url.wrongOption(option, "is wrong"));
    }
    keepErrorOf(() -> url.requireKnownOptions(Set.of("known")));
    int length = url.addresses().orElse("").length();
    for (int from = 0; from < length; from++) {
      keep(url.wrongAddress(from, Math.min(from + 3, length), "is wrong"));
      shown.add(url.quotedAddress(from, Math.min(from + 3, length)));
    }
    keepErrorOf(() -> LockManager.open(text, options, List.of()));
    keepErrorOf(() -> LockManager.open(text, options, List.of(new Fails())));
    keepErrorOf(() -> LockManager.open(text, options, List.of(new AnyUrl(), new AnyUrl())));
  }

  private void show(RedisNodeUri node) {
    shown.add(node.toString());
    shown.add(node.address());
  }

  private void keepErrorOf(Runnable use) {
    try {
      use.run();
    } catch (LockConfigurationException refused) {
      keep(refused);
    }
  }

  private void keep(LockConfigurationException error) {
    shown.add(error.toString());
    if (error.getCause() != null) {
      assertThat(error.getCause()).hasMessageStartingWith("what a provider says itself");
    }
  }

  private static boolean shows(String text) {
    return TELLTALES.stream().anyMatch(text::contains);
  }

  private static class AnyUrl implements LockProvider {
    @Override
    public String name() {
      return "any";
    }

    @Override
    public boolean accepts(LockUrl url) {
      return true;
    }

    @Override
    public LockManager open(LockUrl url) {
      throw new AssertionError("not to be opened");
    }
  }

  private static final class Fails extends AnyUrl {
    @Override
    public boolean accepts(LockUrl url) {
      throw new IllegalArgumentException("what a provider says itself: " + url.addresses());
    }
  }
}
