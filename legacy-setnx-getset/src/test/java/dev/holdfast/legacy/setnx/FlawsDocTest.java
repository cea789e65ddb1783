package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/legacy.md against {@link FlawsTest}. */
class FlawsDocTest {
  /** The last cell of a row: the name of a test. */
  private static final Pattern NAMED = Pattern.compile("(?m)\\| `(\\w+)` \\|$");

  @Test
  void eachFlawInTheDocsHasItsTestAndEachTestItsLine() throws IOException {
    String docs = Files.readString(Path.of("../docs/legacy.md"));
    TreeSet<String> tests =
        Arrays.stream(FlawsTest.class.getDeclaredMethods())
            .filter(method -> method.isAnnotationPresent(Test.class))
            .map(Method::getName)
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(NAMED.matcher(docs).results().map((MatchResult row) -> row.group(1)))
        .containsExactlyInAnyOrderElementsOf(tests)
        .hasSizeGreaterThan(15);
  }
}
