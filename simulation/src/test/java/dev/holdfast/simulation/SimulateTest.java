package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The command. */
class SimulateTest {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @Test
  @DisplayName("prints seeds, grants and runs a second, and exits with 0")
  void printsSeedsGrantsAndSpeed() {
    assertThat(run("--seeds", "16", "--from", "100")).isZero();
    assertThat(text())
        .matches(
            "(?s)16 seeds from 100, \\d+ grants, \\d+ second trips, \\d+ runs a second of one core, .* 0 broken\n");
  }

  @Test
  @DisplayName("a broken invariant: exits with 1, names seed, profile and invariant")
  void reportsTheBrokenInvariant() {
    assertThat(run("--mutant", "nil-is-a-vote", "--root", "..", "--seeds", "20")).isEqualTo(1);
    assertThat(text()).containsPattern("seed \\d+, profile calm: BROKEN exclusion: c\\d ");
  }

  @Test
  @DisplayName("--threads: prints the same, in the order of seeds, except for the speed")
  void severalThreadsPrintTheSame() {
    String[] flawed = {"--mutant", "nil-is-a-vote", "--root", "..", "--seeds", "30"};
    assertThat(run(flawed)).isEqualTo(1);
    String alone = text().replaceAll("\\d+ runs a second", "");
    assertThat(alone).containsPattern("(?s)BROKEN.*BROKEN");
    printed.reset();
    String[] onThree = Arrays.copyOf(flawed, flawed.length + 2);
    onThree[flawed.length] = "--threads";
    onThree[flawed.length + 1] = "3";
    assertThat(run(onThree)).isEqualTo(1);
    assertThat(text().replaceAll("\\d+ runs a second", "")).isEqualTo(alone);
  }

  @Test
  @DisplayName("--replay prints the history, one line an event, the same every time")
  void replays() {
    assertThat(run("--replay", "7", "--profile", "pauses")).isZero();
    String once = text();
    assertThat(once.lines().count()).isGreaterThan(100);
    assertThat(once).containsPattern("(?m)^ +\\d+\\.\\d{6}  c\\d +asks for LockRequest");
    assertThat(once).contains("stands still", "all invariants held");
    printed.reset();
    assertThat(run("--replay", "7", "--profile", "pauses")).isZero();
    assertThat(text()).isEqualTo(once);
  }

  @Test
  @DisplayName("unknown arguments: exits with 64 and lists the valid ones")
  void refusesUnknownArgumentsAndListsValidOnes() {
    assertThat(run("--profile", "stormy")).isEqualTo(64);
    assertThat(text()).contains("there is no profile 'stormy': give one of [calm, ");
    printed.reset();
    assertThat(run("--sedes", "3")).isEqualTo(64);
    assertThat(text()).contains("'--sedes' is not understood");
    printed.reset();
    assertThat(run("--threads", "0")).isEqualTo(64);
    assertThat(text()).contains("--threads takes 1 to 1000, not 0");
  }

  private int run(String... arguments) {
    return Simulate.run(new PrintStream(printed, true, StandardCharsets.UTF_8), arguments);
  }

  private String text() {
    return printed.toString(StandardCharsets.UTF_8);
  }
}
