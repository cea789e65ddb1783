package dev.holdfast.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast demo} as a process, with its servers and workers. */
@Tag("slow")
class DemoTest {
  @TempDir Path temporary;

  @Test
  void underFaultsTheLockLosesNothing() throws Exception {
    try (Program demo = demo("--seconds", "3", "--faults", "--json")) {
      assertThat(demo.exitCode()).as(demo.err()).isZero();

      assertThat(demo.out()).startsWith("{\"seconds\": 3.").hasLineCount(1);
      assertThat(number(demo.out(), "grants")).isPositive();
      assertThat(number(demo.out(), "updatesMade")).isPositive();
      assertThat(number(demo.out(), "freezes") + number(demo.out(), "kills")).isPositive();
      assertThat(number(demo.out(), "overlaps")).isZero();
      assertThat(number(demo.out(), "updatesLost")).isZero();
      assertThat(demo.err()).contains("outages", "nodes up");
      assertNothingIsLeft();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "redisson"})
  void theLockHoldsWithOtherDriversToo(String driver) throws Exception {
    try (Program demo =
        demo("--seconds", "3", "--workers", "2", "--faults", "--json", "--driver", driver)) {
      assertThat(demo.exitCode()).as(demo.err()).isZero();

      assertThat(number(demo.out(), "grants")).isPositive();
      assertThat(number(demo.out(), "updatesLost")).isZero();
      assertNothingIsLeft();
    }
  }

  @Test
  void withoutTheLockUpdatesAreLost() throws Exception {
    try (Program demo = demo("--seconds", "2", "--without-lock")) {
      assertThat(demo.exitCode()).as(demo.err()).isEqualTo(1);

      assertThat(demo.out()).contains("Without the lock");
      assertThat(demo.out()).containsPattern("overlaps seen: [1-9]");
      assertThat(demo.out()).containsPattern("updates lost: [1-9]");
      assertThat(demo.err()).isEmpty();
      assertNothingIsLeft();
    }
  }

  @Test
  void aSignalEndsItSoonerAndNothingIsLeft() throws Exception {
    try (Program demo = demo("--seconds", "600", "--workers", "2").awaitOut("nodes up")) {
      List<ProcessHandle> workers = demo.handle().descendants().toList();
      assertThat(workers).hasSizeGreaterThanOrEqualTo(2);

      demo.signal("TERM");

      assertThat(demo.exitCode()).isEqualTo(143);
      assertThat(demo.out()).contains("updates lost: 0", "The lock held.");
      await().atMost(Limits.LONG).until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
      assertNothingIsLeft();
    }
  }

  @Test
  void workersEndWithTheDemoHoweverItEnds() {
    try (Program demo = demo("--seconds", "600", "--workers", "2").awaitOut("nodes up")) {
      List<ProcessHandle> workers = demo.handle().descendants().toList();

      demo.signal("KILL");

      await().atMost(Limits.LONG).until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
      await().atMost(Limits.LONG).until(() -> serversIn(temporary) == 0);
    }
  }

  private Program demo(String... options) {
    List<String> args = new ArrayList<>(List.of("demo"));
    args.addAll(List.of(options));
    return Program.holdfast(
        Map.of("HOLDFAST_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary), args.toArray(new String[0]));
  }

  private void assertNothingIsLeft() throws Exception {
    assertThat(serversIn(temporary)).isZero();
    try (Stream<Path> files = Files.list(temporary)) {
      assertThat(files.filter(file -> file.getFileName().toString().startsWith("holdfast-")))
          .isEmpty();
    }
  }

  /** Servers whose files are there. */
  private static long serversIn(Path folder) {
    return ProcessHandle.allProcesses()
        .filter(ProcessHandle::isAlive)
        .map(process -> Path.of("/proc", Long.toString(process.pid()), "cwd"))
        .filter(cwd -> isUnder(cwd, folder))
        .count();
  }

  private static boolean isUnder(Path link, Path folder) {
    try {
      return Files.readSymbolicLink(link).startsWith(folder);
    } catch (Exception e) {
      return false;
    }
  }

  private static long number(String json, String key) {
    Matcher matcher = Pattern.compile("\"" + key + "\": (-?\\d+)").matcher(json);
    assertThat(matcher.find()).as(key).isTrue();
    return Long.parseLong(matcher.group(1));
  }
}
