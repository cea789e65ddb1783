package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code holdfast nodes}, each command a process of its own. */
class NodesCommandTest {
  @TempDir Path state;

  @BeforeEach
  void start() {
    assertThat(nodes("start", "--count", "3"))
        .contains("3 of 3 up; a quorum is 2", "HOLDFAST_URL=redlock:redis://127.0.0.1:");
  }

  @AfterEach
  void stop() {
    assertThat(nodes("stop")).contains("Stopped.");
  }

  @Test
  void othersUseThemAndFaultsShowInStatusAndExitCodes() {
    assertThat(run()).isZero();
    assertThat(nodes("freeze", "0")).contains("2 of 3 up");
    assertThat(run()).isZero();
    assertThat(nodes("kill", "1")).contains("1 of 3 up");
    assertThat(run()).isEqualTo(69);
    assertThat(nodes(69, "status").lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("  0").contains("frozen"),
            line -> assertThat(line).startsWith("  1").contains("down"),
            line -> assertThat(line).startsWith("  2").contains("up"),
            line -> assertThat(line).isEqualTo("1 of 3 up; a quorum is 2"));
    assertThat(nodes("thaw", "0")).contains("2 of 3 up");
    assertThat(nodes("restart", "1")).contains("3 of 3 up");
    assertThat(nodes("status")).contains("3 of 3 up");
  }

  @Test
  void startingTwiceIsFineUnlessANumberIsAskedFor() {
    assertThat(nodes("start")).contains("Already there", "3 of 3 up");
    assertThat(nodes("start", "--count", "3")).contains("Already there");
    assertThat(nodes(64, "start", "--count", "5")).isEmpty();
    assertThat(nodes(64, "freeze", "3")).isEmpty();
    assertThat(nodes("status")).contains("3 of 3 up");
  }

  @Test
  void nothingIsLeftWhenTheyAreStopped() {
    assertThat(nodes("stop")).contains("Stopped.");
    assertThat(run()).isEqualTo(64);
    assertThat(Files.exists(state.resolve("nodes"))).isFalse();
    assertThat(nodes("start", "--count", "1")).contains("1 of 1 up");
  }

  private int run() {
    try (Program run = holdfast("run", "--name", "x", "true")) {
      return run.exitCode();
    }
  }

  private String nodes(String... args) {
    return nodes(0, args);
  }

  private String nodes(int code, String... args) {
    List<String> all = new ArrayList<>(List.of("nodes"));
    all.addAll(List.of(args));
    try (Program nodes = holdfast(all.toArray(new String[0]))) {
      assertThat(nodes.exitCode()).as(all + " " + nodes.err()).isEqualTo(code);
      return nodes.out();
    }
  }

  private Program holdfast(String... args) {
    return Program.holdfast(Map.of("HOLDFAST_STATE", state.toString()), args);
  }
}
