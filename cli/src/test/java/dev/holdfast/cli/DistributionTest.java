package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The launcher with real jars and a real JVM. */
@Tag("slow")
class DistributionTest {
  @Test
  void theFirstCommandArchivesTheClassesThatTheOthersStartFrom() {
    assertThat(Distribution.firstStderr()).isEqualTo("holdfast: preparing a faster start, once\n");

    Map<String, String> telling = Map.of("HOLDFAST_JAVA_OPTS", "-Xlog:class+load=info:stdout");
    try (Program second = Program.holdfast(telling, "--version")) {
      assertThat(second.exitCode()).as(second.err()).isZero();
      assertThat(second.out())
          .containsPattern("dev\\.holdfast\\.cli\\.Main source: shared objects file \\(top\\)")
          .contains("holdfast (not packaged)");
      assertThat(second.err()).isEmpty();
    }
  }

  /** The manifest of the jar has Maven's order, as has the class path of this JVM. */
  @Test
  void librariesOfEveryCommandComeFirstOnTheClassPath() {
    assertThat(System.getProperty("java.class.path"))
        .containsSubsequence(
            "picocli", "redlock-lettuce", "lettuce-core", "redlock-jedis", "redlock-redisson");
  }
}
