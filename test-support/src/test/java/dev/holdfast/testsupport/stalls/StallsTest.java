package dev.holdfast.testsupport.stalls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("slow")
class StallsTest {
  private static final long MILLI = 1_000_000;
  private static final long STOPPED_MILLIS = 1_000;

  /** How long after the signal a process stops at most, on a busy machine. */
  private static final long STOPPING_MILLIS = 500;

  @TempDir private Path folder;

  @Test
  @DisplayName("an idle thread that wakes 100 ms late is a stall, of which the longest is reported")
  void wakingLateIsAStall() {
    Stalls stalls = new Stalls(new ProcessorTime(folder.resolve("none")));
    Stalls.Mark begun = stalls.mark();
    stalls.woke(begun.nanos(), begun.nanos() + 99 * MILLI);
    assertThat(stalls.since(begun)).isEmpty();

    stalls.woke(begun.nanos(), begun.nanos() + 312 * MILLI);
    stalls.woke(begun.nanos(), begun.nanos() + 100 * MILLI);

    assertThat(stalls.since(begun)).hasValue("an idle thread woke 312 ms late");
  }

  @Test
  @DisplayName("a stall before a test is not a stall in it")
  void anEarlierStallIsOver() {
    Stalls stalls = new Stalls(new ProcessorTime(folder.resolve("none")));
    Stalls.Mark begun = stalls.mark();

    stalls.woke(begun.nanos() - 500 * MILLI, begun.nanos() - MILLI);

    assertThat(stalls.since(begun)).isEmpty();
  }

  @ParameterizedTest(name = "{2}")
  @DisplayName("a host that takes a tenth of the processors stalls the machine, ten ticks at least")
  @CsvSource({
    "cpu  191 0 50 9710 0 0 0 149 9 9, , 99 ticks of 9910",
    "cpu  150 0 50 1130 0 0 0 170 9 9, the host took 24 % of the processors, 120 ticks of 500",
    "cpu  105 0 50 800 0 0 0 59 7 7, , 9 ticks of 14"
  })
  void aHostThatTakesProcessorsIsAStall(String after, @Nullable String seen, String what)
      throws IOException {
    Path stat = folder.resolve("stat");
    Stalls stalls = new Stalls(new ProcessorTime(stat));
    Files.writeString(stat, "cpu  100 0 50 800 0 0 0 50 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
    Stalls.Mark begun = stalls.mark();

    Files.writeString(stat, after);

    assertThat(stalls.since(begun)).as(what).isEqualTo(Optional.ofNullable(seen));
  }

  @Test
  @DisplayName("a process that was stopped sees that it stood still")
  void aStoppedProcessSeesIt() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Watcher.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(process.inputReader().readLine()).isEqualTo("watching");
      signal("STOP", process);
      assertThat(process.waitFor(STOPPING_MILLIS + STOPPED_MILLIS, TimeUnit.MILLISECONDS))
          .as("ended")
          .isFalse();
      signal("CONT", process);

      assertThat(process.inputReader().readLine()).isEqualTo("it stood still");
    } finally {
      process.destroyForcibly();
    }
  }

  private static void signal(String name, Process process)
      throws IOException, InterruptedException {
    String[] kill = {"kill", "-" + name, Long.toString(process.pid())};
    assertThat(new ProcessBuilder(kill).inheritIO().start().waitFor()).isZero();
  }

  /** Ends when it has seen a stall. */
  static final class Watcher {
    public static void main(String[] arguments) {
      Stalls stalls = Stalls.watched();
      Stalls.Mark begun = stalls.mark();
      System.out.println("watching");
      await().until(() -> stalls.since(begun).filter(Watcher::wasLong).isPresent());
      System.out.println("it stood still");
    }

    private static boolean wasLong(String seen) {
      String millis = seen.replaceAll("an idle thread woke (\\d+) ms late|.*", "$1");
      return !millis.isEmpty() && Long.parseLong(millis) >= STOPPED_MILLIS - 10;
    }
  }
}
