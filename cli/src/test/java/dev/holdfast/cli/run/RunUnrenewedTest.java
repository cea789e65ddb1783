package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} with locks that cannot be renewed: those of time stamps. */
@Tag("slow")
class RunUnrenewedTest {
  private static final String KEY = "lock.job";
  private static final String ENDLESS = "echo ready; while :; do sleep 0.05; done";

  /** Options with time for a loaded machine, and with a short ttl. */
  private static final List<String> SHORT = List.of("--ttl", "4s", "--grace", "2s");

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);

  private final Programs programs = new Programs();

  @AfterEach
  void end() {
    programs.close();
    if (node().state() == TestNode.State.FROZEN) {
      node().thaw();
    }
    node().command("DEL", KEY, "job");
  }

  @ParameterizedTest
  @ValueSource(strings = {"setnx:OLD", "migrate:from?from=setnx:OLD&to=redlock:redis://unused"})
  void runsTheCommandAndSaysHowLongItHas(String url) {
    Program run = run(url, List.of(), "echo ready; cat; exit 7").awaitOut("ready");
    assertThat(node().command("EXISTS", KEY)).isEqualTo(1L);

    assertThat(run.type("").exitCode()).isEqualTo(7);
    assertThat(node().command("EXISTS", KEY)).isEqualTo(0L);
    assertThat(run.err())
        .matches(
            "holdfast: this lock cannot be renewed: the command has 2[34]\\.\\d s, then the grace of"
                + " 5\\.0 s; --ttl \\(default: 30s\\) gives more\n");
  }

  @Test
  void endsTheCommandAsIfTheLockWereLostWhileItStillIsHeld() {
    Program run =
        run("setnx:OLD", SHORT, "trap 'echo told; read line; exit 0' TERM; " + ENDLESS)
            .awaitOut("told");
    assertThat(node().command("EXISTS", KEY)).isEqualTo(1L);

    assertThat(run.type("go on\n").exitCode()).isEqualTo(76);
    assertThat(run.messages().stream().skip(1))
        .singleElement()
        .asString()
        .contains("lost", "EXPIRED", "ending the command");
    assertThat(node().command("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void asAProcessItKillsTheCommandWhileTheLockStillIsHeld() {
    Program run =
        programs
            .holdfast(
                args(
                    "setnx:OLD",
                    List.of("--ttl", "9s", "--grace", "2s"), // its guardian starts late at load
                    "trap '' TERM; echo pid=$$ " + ENDLESS))
            .awaitOut("ready");
    long child = Long.parseLong(run.out().replaceFirst("(?s)pid=(\\d+) .*", "$1"));

    await()
        .atMost(Limits.LONG)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              boolean held = Long.valueOf(1).equals(node().command("EXISTS", KEY));
              boolean alive = isAlive(child);
              assertThat(held || !alive).as("held, or the command has ended").isTrue();
              return !alive;
            });

    assertThat(run.exitCode()).isEqualTo(76);
    assertThat(node().command("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void refusesATtlWithoutTimeForTheCommand() {
    Program run = run("setnx:OLD", List.of("--ttl", "5s"), "echo ran");

    assertThat(run.exitCode()).isEqualTo(64);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("--ttl leaves nothing above --grace").hasLineCount(1);
    assertThat(node().command("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  void refusesToKeepOthersOutForLongerThanTheCommandRuns() {
    Program run = run("setnx:OLD", List.of("--at-least", "10s"), "echo ran");

    assertThat(run.exitCode()).isEqualTo(64);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("HOLD_AT_LEAST");
  }

  @Test
  void waitsForTheServerToo() {
    node().freeze();

    Program run = run("setnx:OLD", List.of("--wait", "forever"), "echo ran");
    run.awaitErr("waiting for the lock 'job'");
    node().thaw();

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("ran\n");
  }

  @Test
  void renewsTheLockWhereTheNewOneIsTakenToo() {
    String both = "migrate:both?from=setnx:OLD%26unit=ms&to=redlock:OLD";
    Program run = run(both, List.of("--ttl", "6s"), "echo ready; cat").awaitOut("ready");
    long first = Long.parseLong((String) node().command("GET", KEY));

    await()
        .atMost(Limits.LONG)
        .until(() -> Long.parseLong((String) node().command("GET", KEY)) > first + 2_000);

    assertThat(run.type("").exitCode()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(node().command("EXISTS", KEY, "job")).isEqualTo(0L);
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).filter(Session::runs).isPresent();
  }

  private static TestNode node() {
    return NODES.node(0);
  }

  private Program run(String url, List<String> options, String script) {
    return programs.inThisJvm(args(url, options, script));
  }

  private static String[] args(String url, List<String> options, String script) {
    String node = NODES.uris().get(0) + "?nodeTimeout=700ms";
    return RunArgs.ofScript(url.replace("OLD", node), options, script);
  }
}
