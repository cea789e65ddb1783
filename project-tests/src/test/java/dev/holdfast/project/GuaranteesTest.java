package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tck.Spec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** docs/guarantees.md against SPEC.md and the tests that it names. */
class GuaranteesTest {
  private static final Path DOCUMENT = Path.of("../docs/guarantees.md");

  /** Number, sentence, rule, file, method. */
  private static final Pattern PROMISE =
      Pattern.compile(
          "(?m)^\\| (\\d+) \\| ([^|]+) \\| ([A-Z]+-\\d+) \\| \\[\\w+]\\(([^)]+)\\) `(\\w+)` \\|$");

  @Test
  @DisplayName("each promise has a number, a rule of SPEC.md and a test that is there")
  void eachPromiseHasARuleAndATest() throws IOException {
    String text = Files.readString(DOCUMENT);
    List<MatchResult> promises = PROMISE.matcher(text).results().toList();

    assertThat(promises)
        .hasSize((int) text.lines().filter(l -> l.matches("\\| \\d+ \\|.*")).count());
    assertThat(promises).hasSizeGreaterThanOrEqualTo(15);
    for (int i = 0; i < promises.size(); i++) {
      MatchResult promise = promises.get(i);
      assertThat(promise.group(1)).isEqualTo(Integer.toString(i + 1));
      assertThat(Spec.rules()).as(promise.group(2)).containsKey(promise.group(3));
      assertThat(DOCUMENT.resolveSibling(promise.group(4)))
          .as(promise.group(2))
          .content()
          .contains("void " + promise.group(5) + "(");
    }
  }
}
