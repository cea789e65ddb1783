package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The script alone, with its two pipes in the hands of the test. */
class GuardianScriptTest {
  private final GuardianFolder folder;
  private final RandomAccessFile control;
  private final RandomAccessFile report;
  private final List<Program> started = new ArrayList<>();

  GuardianScriptTest() throws Exception {
    folder = GuardianFolder.make();
    control = new RandomAccessFile(folder.control().toFile(), "rw");
    report = new RandomAccessFile(folder.report().toFile(), "rw");
  }

  @AfterEach
  void end() throws IOException {
    started.forEach(Program::close);
    folder.delete();
  }

  @Test
  void startsTheCommandAndReportsItsEnd() throws IOException {
    Program guardian = guardian("0", "0", "0");

    tell("start 60000 -");

    assertThat(report.readLine()).startsWith("started ");
    assertThat(report.readLine()).isEqualTo("ended 5");
    tell("done");
    assertThat(guardian.exitCode()).isZero();
    assertThat(guardian.out()).isEqualTo("ran\n");
  }

  @Test
  void startsNothingIfTheLockIsAboutToEnd() throws IOException {
    Program guardian = guardian("5000", "5000", "500");

    tell("start 5500 -");

    assertThat(guardian.exitCode()).isEqualTo(1);
    assertThat(guardian.out()).isEmpty();
  }

  @Test
  void startsNothingIfTheLineHasLainInThePipeForTooLong() throws IOException {
    long now = Uptime.now().orElse(-1);
    assumeThat(now).as("the clock of Linux, a minute after the start").isGreaterThan(60_000);
    Program guardian = guardian("0", "0", "0");

    tell("start 60000 " + (now - 60_000));

    assertThat(guardian.exitCode()).isEqualTo(1);
    assertThat(guardian.out()).isEmpty();
  }

  @Test
  void endsWithoutTheCommandIfThePipeCloses() throws IOException {
    Program guardian = guardian("0", "0", "0");

    control.close();

    assertThat(guardian.exitCode()).isEqualTo(1);
    assertThat(guardian.out()).isEmpty();
  }

  private Program guardian(String grace, String lead, String margin) throws IOException {
    Path script = folder.script();
    Program guardian =
        Program.start(
            Map.of(),
            List.of(
                "bash", "" + script, "" + folder.path(), grace, lead, margin, "sh", "-c",
                "echo ran; exit 5"));
    started.add(guardian);
    assertThat(report.readLine()).isEqualTo("ready");
    return guardian;
  }

  private void tell(String line) throws IOException {
    control.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
  }
}
