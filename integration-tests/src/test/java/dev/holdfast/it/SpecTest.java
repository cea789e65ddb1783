package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** SPEC.md against the tests of all modules. */
class SpecTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern RULE = Pattern.compile("(?m)^- \\*\\*([A-Z]+-\\d+)\\*\\* (\\w+)\\.");
  private static final Pattern NAMING =
      Pattern.compile("(?s)@(?:Rule|DisplayName)\\(\\s*(\\{?[^)]*?\"[^)]*)\\)");
  private static final Pattern NAME = Pattern.compile("\\b([A-Z]{3,5}-\\d+)\\b");

  @Test
  @DisplayName("each MUST has a test that names it, in @Rule or at the head of its @DisplayName")
  void eachMustHasATest() throws IOException {
    Set<String> musts = new TreeSet<>();
    rules().forEach((rule, level) -> musts.addAll(level.equals("MUST") ? Set.of(rule) : Set.of()));
    musts.removeAll(named());
    assertThat(musts).isEmpty();
  }

  @Test
  @DisplayName("each rule that a test names is in SPEC.md")
  void eachNameIsARule() throws IOException {
    assertThat(rules().keySet()).containsAll(named());
  }

  private static Map<String, String> rules() throws IOException {
    Map<String, String> rules = new TreeMap<>();
    Matcher rule = RULE.matcher(Files.readString(ROOT.resolve("SPEC.md")));
    while (rule.find()) {
      rules.put(rule.group(1), rule.group(2));
    }
    assertThat(rules).hasSizeGreaterThan(50);
    return rules;
  }

  private static Set<String> named() throws IOException {
    Set<String> named = new TreeSet<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path tests : modules.map(m -> m.resolve("src/test/java")).toList()) {
        if (Files.isDirectory(tests)) {
          try (Stream<Path> files = Files.walk(tests)) {
            for (Path file : files.filter(f -> f.toString().endsWith("Test.java")).toList()) {
              NAMING
                  .matcher(Files.readString(file))
                  .results()
                  .flatMap(naming -> NAME.matcher(naming.group(1)).results())
                  .map(MatchResult::group)
                  .forEach(named::add);
            }
          }
        }
      }
    }
    return named;
  }
}
