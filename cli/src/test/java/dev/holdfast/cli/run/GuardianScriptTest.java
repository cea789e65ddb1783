package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The script alone, with its two pipes in the hands of the test. */
class GuardianScriptTest {
  /** Fills the pipe at STDERR. */
  static final String FILL_STDERR = "dd if=/dev/zero oflag=nonblock of=$STDERR 2> /dev/null";

  /** More than is in a full pipe. */
  static final int PIPE_BYTES = 1 << 20;

  private static final String USER_WITHOUT_PROCESSES = "54321";

  private final GuardianFolder folder;
  private final RandomAccessFile control;
  private final RandomAccessFile report;
  private final Programs programs = new Programs();

  GuardianScriptTest() throws Exception {
    folder = GuardianFolder.make();
    control = new RandomAccessFile(folder.control().toFile(), "rw");
    report = new RandomAccessFile(folder.report().toFile(), "rw");
  }

  @AfterEach
  void end() throws IOException {
    programs.close();
    folder.delete();
  }

  @Test
  void startsTheCommandAndReportsItsEnd() throws IOException {
    Program guardian = guardian("0", "0", "0");

    send("start 60000 -");

    assertThat(report.readLine()).startsWith("started ");
    assertThat(report.readLine()).isEqualTo("ended 5");
    send("done");
    assertThat(guardian.exitCode()).isZero();
    assertThat(guardian.out()).isEqualTo("ran\n");
  }

  @Test
  void startsNothingIfTheLockIsAboutToEnd() throws IOException {
    Program guardian = guardian("5000", "5000", "500");

    send("start 5500 -");

    assertThat(guardian.exitCode()).isEqualTo(1);
    assertThat(guardian.out()).isEmpty();
  }

  @Test
  void startsNothingIfTheLineHasLainInThePipeForTooLong() throws IOException {
    long now = Uptime.now().orElse(-1);
    assumeThat(now).as("the clock of Linux, a minute after the start").isGreaterThan(60_000);
    Program guardian = guardian("0", "0", "0");

    send("start 60000 " + (now - 60_000));

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

  /** The script asks for a line for a second at most, and then looks at the clock. */
  @Test
  void aLineThatComesInTwoPartsIsObeyed() throws IOException {
    assumeThat(Uptime.now()).as("the clock of Linux").isPresent();
    Program guardian =
        guardian(
            Map.of(),
            List.of("setsid"),
            "0",
            "0",
            "0",
            "sh",
            "-c",
            "trap 'echo told; exit' TERM; echo ready; while :; do sleep 0.05; done");
    send("start 60000 -");
    guardian.awaitOut("ready");
    long ready = Uptime.now().orElseThrow();

    control.write("signal T".getBytes(StandardCharsets.US_ASCII));
    await().atMost(Limits.LONG).until(() -> Uptime.now().orElseThrow() - ready > 2_000);
    send("ERM");

    guardian.awaitOut("told");
  }

  /** The variables of the script's own would be exported, because they were. */
  @Test
  void theCommandsEnvironmentIsLeftAsItIs() throws IOException {
    Map<String, String> environment = new HashMap<>();
    Matcher name = Pattern.compile("\\b[a-z]\\w*").matcher(Files.readString(folder.script()));
    while (name.find()) {
      environment.put(name.group(), "the command's " + name.group());
    }
    environment.put("LC_ALL", "C.UTF-8");
    environment.put("BASH_ENV", folder.script().toString());
    environment.put("BASH_FUNC_read%%", "() { exit 1; }");
    Program guardian = guardian(environment, List.of(), "0", "0", "0", "env");

    send("start 60000 -");

    assertThat(report.readLine()).startsWith("started ");
    assertThat(report.readLine()).isEqualTo("ended 0");
    send("done");
    assertThat(guardian.exitCode()).isZero();
    assertThat(guardian.out().lines())
        .containsAll(environment.entrySet().stream().map(Object::toString).toList());
  }

  @Test
  void endsTheCommandThoughNoProcessCanBeStarted() throws IOException {
    assumeThat(System.getProperty("user.name")).as("who can be another user").isEqualTo("root");
    permitAll();
    Program guardian =
        guardian(
            Map.of(),
            List.of(
                "setpriv",
                "--reuid=" + USER_WITHOUT_PROCESSES,
                "--clear-groups",
                "bash",
                "-c",
                "ulimit -u 30; exec \"$@\"",
                "bash",
                "setsid"),
            "500",
            "0",
            "0",
            "sh",
            "-c",
            "trap '' TERM; (while :; do sleep 60 & done) 2> /dev/null; sleep 60 & echo full; exec sleep 60");
    send("start 60000 -");
    guardian.awaitOut("full");

    control.close();

    assertThat(report.readLine()).startsWith("started ");
    assertThat(report.readLine()).isIn("over", "ended 137");
    assertThat(guardian.exitCode()).isZero();
    assertThat(new Session(guardian.handle().pid()).members()).isEmpty();
  }

  @Test
  void endsTheCommandThoughNothingReadsStderr() throws Exception {
    GuardianFolder other = GuardianFolder.make();
    try (RandomAccessFile stderr = new RandomAccessFile(other.report().toFile(), "rw")) {
      Program guardian =
          guardian(
              Map.of("STDERR", other.report().toString()),
              List.of("setsid", "sh", "-c", "exec \"$@\" 2> $STDERR", "sh"),
              "0",
              "0",
              "0",
              "sh",
              "-c",
              "trap '' TERM; " + FILL_STDERR + "; echo full; exec sleep 60");
      send("start 60000 -");
      guardian.awaitOut("full");

      control.close();

      assertThat(report.readLine()).startsWith("started ");
      assertThat(report.readLine()).isIn("over", "ended 137");
      assertThat(report.readLine()).isIn("over", "ended 137");
      assertThat(new Session(guardian.handle().pid()).members())
          .as("all but the guardian, which waits to tell")
          .containsExactly(guardian.handle());
      assertThat(stderr.read(new byte[PIPE_BYTES])).isPositive();
      assertThat(guardian.exitCode()).isZero();
    } finally {
      other.delete();
    }
  }

  private Program guardian(String grace, String lead, String margin) throws IOException {
    return guardian(Map.of(), List.of(), grace, lead, margin, "sh", "-c", "echo ran; exit 5");
  }

  private Program guardian(Map<String, String> environment, List<String> with, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(with);
    command.addAll(List.of("bash", "-p", "" + folder.script(), "" + folder.path()));
    command.addAll(List.of(arguments));
    Program guardian = programs.start(environment, command);
    assertThat(report.readLine()).isEqualTo("ready");
    return guardian;
  }

  private void permitAll() throws IOException {
    for (Path path :
        List.of(
            folder.path(), folder.script(), folder.control(), folder.report(), folder.pause())) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
    }
  }

  private void send(String line) throws IOException {
    control.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
  }
}
