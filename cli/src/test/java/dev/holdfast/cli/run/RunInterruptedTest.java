package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.cli.Distribution;
import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code holdfast run}: signals, for which it is a process, and the loss of the lock. */
@Tag("slow")
class RunInterruptedTest {
  /** Says its pid, and that it is ready, and goes on until something ends it. */
  private static final String ENDLESS = "echo pid=$$ ready; while :; do sleep 0.05; done";

  @AutoClose private static final TestNodes NODES = TestNodes.start(3);

  private final Programs programs = new Programs();

  @AfterEach
  void end() {
    programs.close();
    Nodes.remove(NODES, "job");
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void aSignalEndsTheWaitAndLeavesNoKey(String signal, int code) throws IOException {
    assumeThat(Program.ignoresSignalOf(code))
        .as("our parent ignores it, and so do its children")
        .isFalse();
    Nodes.occupy(NODES, "job");
    Program run = run(List.of("--wait", "forever"), "echo ran").awaitErr("waiting for the lock");

    run.signal(signal);

    assertThat(run.exitCode()).isEqualTo(code);
    assertThat(run.out()).isEmpty();
    assertThat(NODES.all())
        .allSatisfy(node -> assertThat(node.command("GET", "job")).isEqualTo(Nodes.FOREIGN));
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void exitCodeIsThatOfTheSignalledCommand(String signal, int code) throws IOException {
    assumeThat(Program.ignoresSignalOf(code))
        .as("our parent ignores it, and so do its children")
        .isFalse();
    Program run = run(List.of(), ENDLESS).awaitOut("ready");

    run.signal(signal);

    assertThat(run.exitCode()).isEqualTo(code);
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void theCtrlCOfATerminalReachesTheCommandOnce() throws IOException {
    assumeThat(Path.of("/proc/self/stat")).as("script has other options elsewhere").exists();
    assumeThat(Program.ignoresSignalOf(130))
        .as("our parent ignores it, and so do its children")
        .isFalse();
    Path over = Files.createTempFile("holdfast-test-", ".over");
    Files.delete(over);
    String script =
        "trap 'n=$((n + 1)); echo told' INT; echo ready;"
            + " until [ -e $OVER ]; do sleep 0.05; done; echo n=$n;";
    // without exec, some shells stay around it and end by the signal themselves
    String command = "exec $HOLDFAST run --name job --url $URL -- sh -c \"$SCRIPT\"";
    Program terminal =
        programs.start(
            Map.of(
                "HOLDFAST",
                Distribution.launcher().toString(),
                "URL",
                Nodes.url(NODES),
                "SCRIPT",
                script,
                "OVER",
                over.toString()),
            List.of("script", "-qfec", command, "/dev/null"));

    terminal.awaitOut("ready").press("\u0003").awaitOut("told");
    Files.createFile(over);

    assertThat(terminal.awaitOut("n=").exitCode()).isZero();
    assertThat(terminal.out()).contains("n=1");
    Files.delete(over);
  }

  @Test
  void theLockIsKeptUntilTheCommandHasEndedInItsOwnTime() {
    Program run =
        run(List.of(), "trap 'echo tidying; read line; exit 5' TERM; " + ENDLESS).awaitOut("ready");

    run.signal("TERM").awaitOut("tidying");
    assertThat(Nodes.holding(NODES, "job")).isGreaterThanOrEqualTo(2);
    run.type("go on\n");

    assertThat(run.exitCode()).isEqualTo(5);
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "HUP, 129"})
  void aSignalGoesToAllThatTheCommandHasStarted(String signal, int code) throws IOException {
    assumeThat(Program.ignoresSignalOf(code))
        .as("our parent ignores it, and so do its children")
        .isFalse();
    Program run = run(List.of(), "sh -c 'echo grandchild=$$ started; exec sleep 60'; echo after");
    long grandchild = run.awaitOut("started").number("grandchild=");

    run.signal(signal);

    assertThat(run.exitCode()).isEqualTo(code);
    assertThat(isAlive(grandchild)).isFalse();
    assertThat(run.out()).doesNotContain("after");
    assertThat(run.messages()).isEmpty();
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void theLockIsKeptUntilWhatTheCommandStartedHasEndedToo() {
    Program run =
        run(
            List.of("--grace", "60s"),
            "exec 3<&0; sh -c 'trap \"echo tidying; read line; exit\" TERM; echo grandchild=$$ started;"
                + " while :; do sleep 0.05; done' <&3 & echo pid=$$ ready; wait");
    long child = run.awaitOut("ready").number("pid=");
    long grandchild = run.awaitOut("started").number("grandchild=");

    run.signal("TERM").awaitOut("tidying");
    await().atMost(Limits.LONG).until(() -> !isAlive(child));
    assertThat(Nodes.holding(NODES, "job")).isEqualTo(3);
    assertThat(run.handle().isAlive()).isTrue();
    run.type("go on\n");

    assertThat(run.exitCode()).isEqualTo(143);
    assertThat(isAlive(grandchild)).isFalse();
    assertThat(run.messages()).isEmpty();
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void aProcessThatIgnoresTheSignalAndOutlivesTheCommandIsKilledAfterTheGrace() {
    Program run =
        run(
            List.of("--grace", "300ms"),
            "sh -c 'trap \"\" TERM; echo grandchild=$$ started; sleep 60' & wait");
    long grandchild = run.awaitOut("started").number("grandchild=");

    run.signal("TERM");

    assertThat(run.exitCode()).isEqualTo(143);
    assertThat(isAlive(grandchild)).isFalse();
    assertThat(run.messages())
        .singleElement()
        .asString()
        .contains("process " + grandchild, "killed"); // and perhaps its sleep
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void backgroundProcessesSurviveANormalEnd() {
    Program run =
        runHere(List.of(), "sh -c 'echo grandchild=$$ started; exec sleep 60' & read line");
    long grandchild = run.awaitOut("started").number("grandchild=");

    run.type("go on\n");

    assertThat(run.exitCode()).isZero();
    assertThat(isAlive(grandchild)).isTrue();
    Program.signal("KILL", grandchild);
  }

  @Test
  void theLockIsRenewedWhileTheCommandRuns() {
    Program run = runHere(List.of("--ttl", "3s"), "echo ready; cat").awaitOut("ready");
    String before = (String) NODES.node(0).command("GET", "job");

    await()
        .atMost(Limits.LONG)
        .until(() -> NODES.node(0).commandCounts().getOrDefault("pexpire", 0L) > 4);

    assertThat(NODES.node(0).command("GET", "job")).isEqualTo(before);
    assertThat(run.type("").exitCode()).isZero();
  }

  @Test
  void whenTheLockIsLostTheCommandGetsSigtermAndTheExitCodeIs76() {
    Program run =
        run(List.of("--ttl", "3s"), "trap 'echo told; exit 0' TERM; " + ENDLESS).awaitOut("ready");

    Nodes.remove(NODES, "job");
    Nodes.occupy(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).contains("told");
    assertThat(run.messages()).singleElement().asString().contains("lost", "TAKEN");
    assertThat(Nodes.holding(NODES, "job")).isEqualTo(3);
  }

  @Test
  void whenTheLockIsLostWhatTheCommandStartedGetsSigtermToo() {
    Program run =
        runHere(
            List.of("--ttl", "3s", "--grace", "60s"),
            "sh -c 'trap \"echo told; exit\" TERM; echo started; while :; do sleep 0.05; done' &"
                + " wait");
    run.awaitOut("started");

    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.out()).contains("told");
  }

  @Test
  void afterTheGraceTheCommandAndItsChildrenGetSigkill() {
    Program run =
        runHere(
            List.of("--ttl", "3s", "--grace", "300ms"),
            "trap '' TERM; sh -c 'echo grandchild=$$ started; sleep 60' & " + ENDLESS);
    long child = run.awaitOut("ready").number("pid=");
    long grandchild = run.awaitOut("started").number("grandchild=");

    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(isAlive(child)).isFalse();
    assertThat(isAlive(grandchild)).isFalse();
    assertThat(run.err()).contains("REMOVED");
  }

  @Test
  void noCommandRunsLongerThanTheLongestHoldAndTheLockIsKeptDuringItsGrace() {
    Program run =
        runHere(
            List.of("--ttl", "1s", "--max-hold", "1s"),
            "trap 'echo told; read line; exit 0' TERM; " + ENDLESS);

    run.awaitOut("told");
    assertThat(Nodes.holding(NODES, "job")).isGreaterThanOrEqualTo(2);
    run.type("go on\n");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.messages()).singleElement().asString().contains("MAX_HOLD");
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void lossNoticedOnlyAtTheEndIsReported() {
    Program run = runHere(List.of("--ttl", "60s"), "echo ready; cat").awaitOut("ready");

    Nodes.remove(NODES, "job");
    run.type("");

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(run.err()).contains("was lost before the command ended");
  }

  private Program run(List<String> options, String script) {
    return programs.holdfast(args(options, script));
  }

  private Program runHere(List<String> options, String script) {
    return programs.inThisJvm(args(options, script));
  }

  private static String[] args(List<String> options, String script) {
    return RunArgs.ofScript(Nodes.url(NODES), options, script);
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).filter(Session::runs).isPresent();
  }
}
