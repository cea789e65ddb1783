package dev.holdfast.cli.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code holdfast nodes}: each command finds what others started, as a process too. */
@Tag("slow")
class NodesCommandTest {
  @TempDir Path state;

  @BeforeEach
  void start() {
    assertThat(nodes("start", "--count", "3"))
        .contains("3 of 3 up; a quorum is 2", "export HOLDFAST_URL=redlock:redis://127.0.0.1:");
  }

  @AfterEach
  void stop() {
    assertThat(nodes("stop")).contains("Stopped.");
  }

  @Test
  void faultsShowInStatusAndExitCodes() {
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
    assertThat(nodes("restart", "1")).contains("3 of 3 up, 2 vote; a quorum is 2");
    assertThat(nodes("status").lines())
        .satisfiesExactly(
            line -> assertThat(line).doesNotContain("data"),
            line -> assertThat(line).contains("up", "votes again in "),
            line -> assertThat(line).doesNotContain("data"),
            line -> assertThat(line).isEqualTo("3 of 3 up, 2 vote; a quorum is 2"));
    assertThat(nodes("status", "--json")).contains("\"voting\": 2", "votes again in ");
  }

  @Test
  void nodesOutliveTheCommandsThatStartThem() {
    assertThat(process("nodes", "stop")).contains("Stopped.");
    assertThat(process("nodes", "start", "--count", "3")).contains("3 of 3 up; a quorum is 2");
    assertThat(process("nodes", "freeze", "0")).contains("2 of 3 up");
    assertThat(process("run", "--name", "x", "echo", "ran")).isEqualTo("ran\n");
    assertThat(nodes("status")).contains("frozen", "2 of 3 up");
  }

  private String process(String... args) {
    try (Program process = Program.holdfast(Map.of("HOLDFAST_STATE", state.toString()), args)) {
      assertThat(process.exitCode()).as(process.err()).isZero();
      return process.out();
    }
  }

  @Test
  void usageErrorChangesNothing() {
    assertThat(nodes("kill", "1")).contains("2 of 3 up");

    assertThat(refused("freeze", "2", "1", "0"))
        .isEqualTo("holdfast: node 1 is down: start it first, with: holdfast nodes restart 1");
    assertThat(refused("thaw", "1")).contains("node 1 is down", "holdfast nodes restart 1");
    assertThat(refused("freeze", "2", "77", "0")).contains("no node 77", "0 to 2");
    assertThat(nodes("status")).contains("2 of 3 up").doesNotContain("frozen");
  }

  @Test
  void statusIsAvailableAsJson() {
    assertThat(nodes("kill", "1")).contains("2 of 3 up");

    String node =
        "\\{\"index\": %d, \"address\": \"127[^\"]+\", \"state\": \"%s\", \"version\": \"[^\"]+\"}";
    assertThat(nodes("status", "--json"))
        .matches(
            "\\{\"nodes\": \\["
                + node.formatted(0, "up")
                + ", "
                + node.formatted(1, "down")
                + ", "
                + node.formatted(2, "up")
                + "], \"up\": 2, \"voting\": 2, \"quorum\": 2}\n");
    assertThat(nodes("kill", "2")).contains("1 of 3 up");
    assertThat(nodes(69, "status", "--json")).contains("\"up\": 1");
  }

  @Test
  void aRestartSaysWhichNodesItHasKilledForIt() {
    assertThat(nodes("kill", "1")).contains("2 of 3 up");

    assertThat(nodes("restart", "1")).doesNotContain("killed");
    assertThat(nodes("freeze", "2")).contains("2 of 3 up");
    assertThat(nodes("restart", "0", "2", "0").lines())
        .startsWith(
            "Node 0 was up: killed and started again, without its data.",
            "Node 2 was frozen: killed and started again, without its data.")
        .endsWith("3 of 3 up, 0 vote; a quorum is 2");
  }

  @Test
  void startingAgainSucceedsUnlessTheCountDiffers() {
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

  private String refused(String... args) {
    List<String> all = new ArrayList<>(List.of("nodes"));
    all.addAll(List.of(args));
    try (Program nodes = holdfast(all.toArray(new String[0]))) {
      assertThat(nodes.exitCode()).isEqualTo(64);
      assertThat(nodes.out()).isEmpty();
      return nodes.err().strip();
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
    return Program.inThisJvm(Map.of("HOLDFAST_STATE", state.toString()), args);
  }
}
