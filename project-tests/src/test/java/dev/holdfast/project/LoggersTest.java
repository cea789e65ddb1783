package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The names of loggers are those that docs/errors.md lists, so that they can be relied on. */
class LoggersTest {
  private static final Pattern LOGGER =
      Pattern.compile("System\\.getLogger\\(\\s*(\\w+)\\.class\\.getName\\(\\)\\)");

  private static final Pattern LISTED =
      Pattern.compile("(?m)^\\| `dev\\.holdfast\\.[\\w.]*?(\\w+)` \\|");

  @Test
  void eachLoggerIsListedByItsName() throws IOException {
    Set<String> used = new TreeSet<>();
    for (Path module : modules()) {
      try (Stream<Path> files = Files.walk(module.resolve("src/main/java"))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          String source = Files.readString(file);
          List<String> named = groups(LOGGER, source);
          assertThat(named).as("%s", file).hasSize(source.contains("System.getLogger(") ? 1 : 0);
          used.addAll(named);
        }
      }
    }

    assertThat(used).isNotEmpty();
    assertThat(groups(LISTED, Files.readString(Modules.ROOT.resolve("docs/errors.md"))))
        .containsExactlyInAnyOrderElementsOf(used);
  }

  /** Returns the libraries, and the one for Spring, which has no descriptor. */
  private static List<Path> modules() {
    return Stream.concat(
            Modules.libraries().stream(), Stream.of(Modules.ROOT.resolve("spring-boot")))
        .toList();
  }

  private static List<String> groups(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toList());
  }
}
