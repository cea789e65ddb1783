package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher with real jars and a real JVM. */
class DistributionTest {
  @TempDir Path folder;

  @Test
  void theFirstCommandArchivesTheClassesThatTheOthersStartFrom() {
    Distribution.layOut(folder);

    try (Program first = holdfast("", "backends")) {
      assertThat(first.exitCode()).as(first.err()).isZero();
      assertThat(first.out()).contains("lettuce");
      assertThat(first.err()).isEqualTo("holdfast: preparing a faster start, once\n");
    }
    try (Program second = holdfast("-Xlog:class+load=info:stdout", "--version")) {
      assertThat(second.exitCode()).as(second.err()).isZero();
      assertThat(second.out())
          .containsPattern("dev\\.holdfast\\.cli\\.Main source: shared objects file \\(top\\)")
          .contains("holdfast (not packaged)");
      assertThat(second.err()).isEmpty();
    }
  }

  private Program holdfast(String javaOptions, String... args) {
    List<String> command = new ArrayList<>();
    command.add(folder.resolve("bin/holdfast").toString());
    command.addAll(List.of(args));
    return Program.start(Map.of("HOLDFAST_JAVA_OPTS", javaOptions), command);
  }
}
