package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.cli.Distribution;
import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.cli.ThirdParty;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code holdfast run} as a process: the command never outlives the lock, whatever is killed. */
@Tag("slow")
class RunGuardedTest {
  private static final String ENDLESS = "echo pid=$$ ready; while :; do sleep 0.05; done";

  /** Its second shell has no parent that is known, and no signal but SIGKILL ends it. */
  private static final String DOUBLE_FORK =
      "(sh -c 'trap \"\" TERM; echo orphan=$$ started; while :; do sleep 0.05; done' &); ";

  @AutoClose private static final TestNodes NODES = TestNodes.start(3);

  private final Programs programs = new Programs();
  private final List<Long> left = new ArrayList<>();

  @TempDir Path folder;

  @BeforeEach
  void onLinux() {
    assumeThat(Path.of("/proc/self/stat")).as("where sessions are found").exists();
  }

  @AfterEach
  void end() {
    programs.close();
    left.forEach(pid -> Program.signal("KILL", pid));
    Nodes.remove(NODES, "job");
  }

  @Test
  void whenHoldfastIsKilledTheCommandAndItsOrphansEndBeforeTheLock() {
    Program run =
        run(List.of("--ttl", "6s", "--grace", "1s"), DOUBLE_FORK + "trap '' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");
    long orphan = run.awaitOut("started").number("orphan=");

    run.signal("KILL");

    awaitEndWithTheLockHeld(child, orphan);
    run.awaitErr("holdfast ended while the command ran; the command was ended");
  }

  @Test
  void whenHoldfastIsKilledTheCommandCanTidyUp() {
    Program run = run(List.of(), "trap 'echo tidied; exit' TERM; " + ENDLESS).awaitOut("ready");

    run.signal("KILL");

    run.awaitOut("tidied");
  }

  @Test
  void theNextRunStartsNothingBeforeTheCommandOfAKilledOneHasEnded() {
    Program killed = run(List.of("--ttl", "4s", "--grace", "60s"), "trap '' TERM; " + ENDLESS);
    long child = killed.awaitOut("ready").number("pid=");
    Program next =
        run(
                List.of("--wait", "forever"),
                "if kill -0 " + child + "; then echo both; else echo alone; fi")
            .awaitErr("waiting for the lock");

    killed.signal("KILL");

    assertThat(next.exitCode()).isZero();
    assertThat(next.out()).isEqualTo("alone\n");
  }

  @Test
  void whenHoldfastStandsStillTheCommandEndsBeforeTheLock() {
    Program run = run(List.of("--ttl", "6s"), DOUBLE_FORK + "trap 'echo told' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");
    long orphan = run.awaitOut("started").number("orphan=");

    run.signal("STOP");

    awaitEndWithTheLockHeld(child, orphan);
    assertThat(run.out()).contains("told");
    await().atMost(Limits.LONG).until(() -> Nodes.holding(NODES, "job") == 0);
    run.signal("CONT");
    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.messages())
        .singleElement()
        .asString()
        .contains("'job' was not renewed in time; ending the command");
  }

  @Test
  void whenNothingCanBeRenewedTheCommandEndsBeforeTheLock() {
    Program run = run(List.of("--ttl", "6s"), "trap 'echo told; exit' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");

    NODES
        .all()
        .forEach(
            node -> node.command("ACL", "SETUSER", "default", "-eval", "-evalsha", "-pexpire"));
    try {
      awaitEndWithTheLockHeld(child);
    } finally {
      NODES.all().forEach(node -> node.command("ACL", "SETUSER", "default", "+@all"));
    }

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).contains("told");
  }

  @Test
  void whenHoldfastHasNoMemoryLeftTheCommandEndsBeforeTheLock() throws IOException {
    Path fill = folder.resolve("fill");
    Program run =
        programs.holdfast(
            Map.of("HOLDFAST_JAVA_OPTS", "-Xmx48m", "FILL", fill.toString()),
            "--class-path",
            ThirdParty.filling(folder).toString(),
            "run",
            "--name",
            "job",
            "--url",
            "redlock:full:" + String.join(",", NODES.uris()) + "?nodeTimeout=700ms",
            "--ttl",
            "5s",
            "--",
            "sh",
            "-c",
            "trap '' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");

    Files.createFile(fill);

    awaitEndWithTheLockHeld(child);
  }

  @Test
  void anOrphanGetsSigtermAndSigkillWhenTheLockIsLost() {
    String traps = "(sh -c 'trap \"echo told\" TERM; echo orphan=$$ started;";
    Program run =
        runHere(
            List.of("--ttl", "3s", "--grace", "2s"),
            traps + " while :; do sleep 0.05; done' &); exec sleep 60");
    long orphan = run.awaitOut("started").number("orphan=");

    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).contains("told");
    assertThat(runs(orphan)).isFalse();
  }

  @Test
  void aJobInAProcessGroupOfItsOwnIsEndedToo() {
    Program run =
        run(
            List.of("--ttl", "6s", "--grace", "1s"),
            "bash -c 'set -m; sh -c \"echo job=\\$\\$ started; exec sleep 60\" &' ; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");
    long job = run.awaitOut("started").number("job=");

    run.signal("KILL");

    awaitEndWithTheLockHeld(child, job);
  }

  @Test
  void aStoppedProcessGetsSigtermToo() {
    Program run = run(List.of("--ttl", "4s"), "trap 'echo told; exit' TERM; kill -STOP $$");
    await().atMost(Limits.LONG).until(() -> Nodes.holding(NODES, "job") == 3);
    await()
        .atMost(Limits.LONG)
        .until(
            () ->
                run.handle()
                    .descendants()
                    .anyMatch(p -> ProcStat.of(p.pid()).filter(s -> s.state() == 'T').isPresent()));

    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).contains("told");
  }

  @Test
  void aProcessWithASessionOfItsOwnEscapesAsTheHelpSays() {
    Program run =
        runHere(
            List.of("--ttl", "3s"),
            "setsid sh -c 'echo escaped=$$ started; exec sleep 60' & " + ENDLESS);
    long escaped = run.awaitOut("started").number("escaped=");
    left.add(escaped);
    run.awaitOut("ready");

    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(runs(escaped)).isTrue();
    Program help = programs.inThisJvm("run", "--help");
    assertThat(help.exitCode()).isZero();
    assertThat(help.out()).contains("setsid");
  }

  @Test
  void aRunWithinTheRunEndsBeforeTheLockThoughItHasASessionOfItsOwn() {
    Program run =
        start(
            Map.of("LAUNCHER", Distribution.launcher().toString(), "URL", Nodes.url(NODES)),
            List.of("--ttl", "6s", "--grace", "1s"),
            "$LAUNCHER run --name inner --grace 60s --url $URL --"
                + " sh -c 'trap \"\" TERM; echo inner=$$ ready; while :; do sleep 0.05; done'");
    long child = run.awaitOut("ready").number("inner=");

    run.signal("KILL");

    try {
      awaitEndWithTheLockHeld(child);
    } finally {
      Nodes.remove(NODES, "inner");
    }
  }

  @Test
  void optionsAndFunctionsOfTheCallersShellAreNotTheGuardians() throws IOException {
    Path read = folder.resolve("read");
    Path profile = Files.writeString(folder.resolve("profile"), "echo \"$0\" >> '" + read + "'");
    Program run =
        programs.holdfast(
            Map.of("SHELLOPTS", "hashall", "BASH_ENV", profile.toString()),
            "run",
            "--name",
            "job",
            "--url",
            Nodes.url(NODES),
            "--",
            "bash",
            "-c",
            "false; echo \"on with $BASH_ENV\"");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo("on with " + profile + "\n");
    assertThat(read).content().contains("bash\n").doesNotContain("guardian");
  }

  @Test
  void whenTheGuardianIsKilledTheCommandIsToo() {
    Program run = run(List.of(), DOUBLE_FORK + "trap '' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");
    long orphan = run.awaitOut("started").number("orphan=");

    Program.signal("KILL", guardian(child));

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(runs(child)).isFalse();
    assertThat(runs(orphan)).isFalse();
    assertThat(run.messages()).singleElement().asString().contains("guardian", "was killed");
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void whenTheGuardianIsKilledTheCommandIsTooThoughNothingReadsStderr() throws Exception {
    GuardianFolder pipes = GuardianFolder.make();
    try (RandomAccessFile stderr = new RandomAccessFile(pipes.report().toFile(), "rw")) {
      Program run =
          programs.start(
              Map.of("STDERR", pipes.report().toString()),
              List.of(
                  "sh",
                  "-c",
                  "exec \"$@\" 2> $STDERR",
                  "sh",
                  Distribution.launcher().toString(),
                  "run",
                  "--name",
                  "job",
                  "--url",
                  Nodes.url(NODES),
                  "--",
                  "sh",
                  "-c",
                  GuardianScriptTest.FILL_STDERR + "; " + ENDLESS));
      long child = run.awaitOut("ready").number("pid=");

      Program.signal("KILL", guardian(child));

      awaitEndWithTheLockHeld(child);
      assertThat(stderr.read(new byte[GuardianScriptTest.PIPE_BYTES])).isPositive();
      assertThat(run.exitCode()).isEqualTo(76);
    } finally {
      pipes.delete();
    }
  }

  @Test
  void theCommandIsKilledAfterTheGraceThoughTheGuardianIsStopped() {
    Program run = run(List.of("--ttl", "3s", "--grace", "100ms"), "trap '' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");

    Program.signal("STOP", guardian(child));
    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(runs(child)).isFalse();
  }

  @Test
  void whenTheCommandsParentIsKilledTheCommandEnds() {
    Program run = run(List.of(), ENDLESS);
    long child = run.awaitOut("ready").number("pid=");

    Program.signal("KILL", ProcessHandle.of(child).orElseThrow().parent().orElseThrow().pid());

    assertThat(run.exitCode()).isEqualTo(137);
    assertThat(runs(child)).isFalse();
  }

  @Test
  void signalsToItsOwnGroupAreTheCommandsAlone() {
    Program run = run(List.of(), "trap '' TERM HUP; kill -TERM 0; kill -HUP 0; exit 3");

    assertThat(run.exitCode()).isEqualTo(3);
  }

  @Test
  void theCommandIsNotStartedIfAnotherOwnerHasTheLock() throws IOException {
    Path go = slowGuardian();
    Program run = slow(List.of("--ttl", "3s"));
    await().atMost(Limits.LONG).until(() -> guardianWaits(run));

    Nodes.occupy(NODES, "job");
    List<Long> before = NODES.all().stream().map(RunGuardedTest::scripts).toList();
    await()
        .atMost(Limits.LONG)
        .until(
            () ->
                IntStream.range(0, NODES.all().size())
                    .allMatch(i -> scripts(NODES.node(i)) > before.get(i)));
    Files.createFile(go);

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).isEmpty();
    assertThat(run.messages())
        .singleElement()
        .asString()
        .contains("TAKEN", "the command was not started");
  }

  private static long scripts(TestNode node) {
    return node.commandCounts().getOrDefault("evalsha", 0L);
  }

  @Test
  void theCommandIsNotStartedIfTheLockWasLostJustBefore() throws IOException {
    Path go = slowGuardian();
    Program run = slow(List.of("--ttl", "3s"));
    await().atMost(Limits.LONG).until(() -> guardianWaits(run));

    // With SIGSTOP it cannot renew: the lock is over when it goes on.
    run.signal("STOP");
    await().atMost(Limits.LONG).until(() -> Nodes.holding(NODES, "job") == 0);
    Files.createFile(go);
    run.signal("CONT");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).isEmpty();
    assertThat(run.messages()).singleElement().asString().contains("the command was not started");
  }

  @Test
  void theCommandIsNotStartedIfHoldfastWasKilledJustBefore() throws IOException {
    Path go = slowGuardian();
    Program run = slow(List.of());
    await().atMost(Limits.LONG).until(() -> guardianWaits(run));
    ProcessHandle guardian = run.handle().children().findFirst().orElseThrow();

    run.signal("KILL");
    run.exitCode();
    Files.createFile(go);

    await().atMost(Limits.LONG).until(() -> !Session.runs(guardian));
    assertThat(run.out()).isEmpty();
  }

  @Test
  void withoutSetsidAndPerlTheCommandsGroupIsEnded() throws IOException {
    Path few = tools("bash", "env", "mkfifo", "sleep", "sh", "readlink");
    Program run =
        start(
            Map.of("PATH", few.toString()),
            List.of("--ttl", "6s", "--grace", "1s"),
            DOUBLE_FORK + "trap '' TERM; " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");
    long orphan = run.awaitOut("started").number("orphan=");
    assertThat(run.err()).contains("there is neither setsid nor perl");

    run.signal("KILL");

    awaitEndWithTheLockHeld(child, orphan);
  }

  @Test
  void withoutSetsidPerlBeginsTheSession() throws IOException {
    assumeThat(SearchPath.find("perl")).as("perl").isPresent();
    Path few = tools("bash", "env", "mkfifo", "sleep", "sh", "readlink", "perl");
    Program run = start(Map.of("PATH", few.toString()), List.of(), ENDLESS);
    long child = run.awaitOut("ready").number("pid=");

    assertThat(ProcStat.of(child).orElseThrow().session()).isEqualTo(guardian(child));
    assertThat(run.err()).isEmpty();
  }

  @Test
  void aBashThatIsTooOldIsNamedAndTheCommandIsNotStarted() throws IOException {
    Path old =
        script(
            "bash",
            "case $2 in */guardian) echo 'unfit 3.2.57' > \"$3/report\"; exit 1; esac; exec "
                + SearchPath.find("bash").orElseThrow()
                + " \"$@\"");
    Program run =
        start(Map.of("PATH", old.getParent() + ":" + System.getenv("PATH")), List.of(), "echo ran");

    assertThat(run.exitCode()).isEqualTo(126);
    assertThat(run.err()).contains("bash 3.2.57 is too old").hasLineCount(1);
    assertThat(run.out()).isEmpty();
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void nothingIsLeftInTheFolderForTemporaryFiles() throws IOException {
    Program run =
        start(Map.of("HOLDFAST_JAVA_OPTS", "-Djava.io.tmpdir=" + folder), List.of(), ENDLESS)
            .awaitOut("ready");

    assertThat(folder).isEmptyDirectory();
    run.signal("TERM");
    assertThat(run.exitCode()).isEqualTo(143);
  }

  private Program slow(List<String> options) {
    return start(
        Map.of("PATH", folder.resolve("tools") + ":" + System.getenv("PATH")), options, "echo ran");
  }

  /** Makes a setsid that waits for the file that is returned. */
  private Path slowGuardian() throws IOException {
    Path go = folder.resolve("go");
    script(
        "setsid",
        "until [ -e '"
            + go
            + "' ]; do sleep 0.05; done; exec "
            + SearchPath.find("setsid").orElseThrow()
            + " \"$@\"");
    return go;
  }

  private static boolean guardianWaits(Program run) {
    return run.handle()
        .children()
        .anyMatch(p -> p.info().commandLine().filter(c -> c.contains("setsid")).isPresent());
  }

  private Path script(String name, String text) throws IOException {
    return script(folder.resolve("tools"), name, text);
  }

  private static Path script(Path place, String name, String text) throws IOException {
    Path file = Files.createDirectories(place).resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return file;
  }

  private Path tools(String... names) throws IOException {
    Path few = folder.resolve("few");
    for (String name : names) {
      script(few, name, "exec " + SearchPath.find(name).orElseThrow() + " \"$@\"");
    }
    return few;
  }

  /** The leader of the command's session. */
  private static long guardian(long child) {
    return ProcStat.of(child).orElseThrow().session();
  }

  /** At each look the lock is held, or all have ended: the lock is asked first. */
  private static void awaitEndWithTheLockHeld(long... pids) {
    await()
        .atMost(Limits.LONG)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              boolean held = Nodes.holding(NODES, "job") >= 2;
              boolean alive = false;
              for (long pid : pids) {
                alive |= runs(pid);
              }
              assertThat(held || !alive).as("held, or all have ended").isTrue();
              return !alive;
            });
  }

  private Program run(List<String> options, String script) {
    return start(Map.of(), options, script);
  }

  private Program runHere(List<String> options, String script) {
    return programs.inThisJvm(args(options, script));
  }

  private Program start(Map<String, String> environment, List<String> options, String script) {
    return programs.holdfast(environment, args(options, script));
  }

  private static String[] args(List<String> options, String script) {
    return RunArgs.ofScript(Nodes.url(NODES), options, script);
  }

  private static boolean runs(long pid) {
    return ProcessHandle.of(pid).filter(Session::runs).isPresent();
  }
}
