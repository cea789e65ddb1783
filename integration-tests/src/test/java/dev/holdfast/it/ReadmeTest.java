package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.CompiledSource;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java of the README and of docs/requests.md, compiled and run against real servers. */
class ReadmeTest {
  private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final String FIRST_URL = "redlock:redis://h1,redis://h2,redis://h3";

  @TempDir private Path folder;

  @Test
  @DisplayName("the code stands within the first 20 lines, and checks before its effect")
  void theCodeComesFirst() throws Exception {
    List<String> top = readme().lines().limit(20).toList();
    assertThat(top).contains("```java").anyMatch(line -> line.contains("requireHeld()"));
  }

  @Test
  @DisplayName("all Java of the README and of the page on requests compiles and does what it says")
  void theExamplesRun() throws Exception {
    List<String> blocks =
        JAVA.matcher(readme() + documents("docs/requests.md"))
            .results()
            .map(m -> m.group(1))
            .filter(block -> !block.contains("@Locked")) // run in the module spring-boot
            .filter(block -> !block.contains("@Test")) // run by TestingExamplesTest
            .toList();
    assertThat(blocks).hasSize(3);
    try (TestNodes nodes = TestNodes.start(3)) {
      String url = "redlock:lettuce:" + String.join(",", nodes.uris());
      assertThat(blocks.get(0)).contains(FIRST_URL);
      String first = blocks.get(0).replace(FIRST_URL, url) + "locks.close();";
      String second =
          "try (LockManager locks = LockManager.open(\"%s\")) {\n%s\nstore(new Order(result));\n}"
              .formatted(url, blocks.get(1));
      assertThat(run(0, first)).isEqualTo("the order, shipped");
      assertThat(run(1, second)).isEqualTo("the work");

      nodes.all().forEach(node -> node.command("FLUSHALL"));
      String tryOut =
          blocks.get(2).replace(FIRST_URL, url)
              + "locks.acquire(\"order-4711\", Duration.ofSeconds(30)).close();\n"
              + "locks.close();\nstore(load());";
      assertThat(run(2, tryOut)).isEqualTo("the order");
    }
  }

  @Test
  @DisplayName(
      "the table of a redlock: URL's options has each of them with its default, and no other")
  void theOptionsAreTheOnesThatThereAre() throws Exception {
    RedlockOptions defaults = RedlockOptions.defaults();
    Map<String, String> shown =
        Pattern.compile("(?m)^\\| `(\\w+)` \\| (?:`([^`]*)`|empty)")
            .matcher(documents("docs/redlock.md"))
            .results()
            .collect(Collectors.toMap(row -> row.group(1), row -> String.valueOf(row.group(2))));

    assertThat(shown.keySet()).containsExactlyInAnyOrderElementsOf(RedlockOptions.NAMES);
    shown.remove("restartGuard"); // the default of which is that of the number of nodes
    shown.remove("owner"); // which is different in each process
    shown.values().removeIf("null"::equals);
    assertThat(shown).hasSize(9);
    String options = String.join("&", options(shown));
    LockManager.open("memory:?" + options).close();
    LockManager.open("memory:", Map.of("restartGuard", "on", "owner", "x", "cluster", "y")).close();
    String url = "redlock:redis://h1?" + options;
    assertThat(RedlockOptions.from(LockUrl.parse(url, Map.of())))
        .usingRecursiveComparison()
        .isEqualTo(defaults);
  }

  @Test
  @DisplayName("the version is the same in all places")
  void theVersionIsTheSameEverywhere() throws Exception {
    Matcher version =
        Pattern.compile("<artifactId>holdfast-parent</artifactId>\\s*<version>(.*)</version>")
            .matcher(documents("pom.xml"));
    assertThat(version.find()).isTrue();

    String own = "ersion>" + version.group(1) + "</";
    assertThat(readme()).contains(own).contains("puts " + version.group(1) + " into");
    assertThat(documents("bom/pom.xml")).contains(own);
    assertThat(documents("examples/third-party-driver/pom.xml")).contains("<holdfast.v" + own);
  }

  private static List<String> options(Map<String, String> values) {
    return values.entrySet().stream()
        .map(option -> option.getKey() + "=" + option.getValue())
        .toList();
  }

  private String run(int number, String block) throws Exception {
    String name = "Example" + number;
    String source =
        """
        import dev.holdfast.*;
        import java.time.Duration;

        public class %s {
          static String published;
          record Order(String text) {
            Order shipped() { return new Order(text + ", shipped"); }
          }
          static Order load() { return new Order("the order"); }
          static String work() { return "the work"; }
          static void store(Order order) { published = order.text(); }
          public static String run() throws Exception {
            %s
            return published;
          }
        }
        """
            .formatted(name, block);
    CompiledSource.compile(folder, name, source);
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      return (String) loader.loadClass(name).getMethod("run").invoke(null);
    } catch (InvocationTargetException e) {
      throw new AssertionError(source, e.getCause());
    }
  }

  /** Tests run in the module's folder, the README stands above it. */
  private static String readme() throws Exception {
    return documents("README.md");
  }

  private static String documents(String file) throws Exception {
    Path here = Path.of("").toAbsolutePath();
    return Files.readString(
        Stream.iterate(here, p -> p != null, Path::getParent)
            .map(p -> p.resolve(file))
            .filter(Files::exists)
            .findFirst()
            .orElseThrow());
  }
}
