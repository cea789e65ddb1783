package dev.holdfast.cli.run;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Distribution;
import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast run} on real nodes: its arguments and its ends. */
class RunTest {
  @AutoClose private static final TestNodes NODES = TestNodes.start(3);

  private final Programs programs = new Programs();

  @AfterEach
  void end() {
    programs.close();
    Nodes.thaw(NODES);
    NODES.all().stream()
        .filter(node -> node.state() == TestNode.State.DOWN)
        .forEach(
            node -> {
              node.restart();
              node.vouch(0);
            });
    Nodes.remove(NODES, "job");
  }

  @Test
  void asAProcessItRunsTheCommandWithTheLockAndItsStdinStdoutStderrAndEnvironment() {
    assertRunsTheCommand(programs::holdfast);
  }

  @Test
  void runsTheCommandWithTheLockAndItsStdinStdoutStderrAndEnvironment() {
    assertRunsTheCommand(programs::inThisJvm);
  }

  private void assertRunsTheCommand(Function<String[], Program> start) {
    String script = "cat; echo $HOLDFAST_NAME=$HOLDFAST_TOKEN; echo warned >&2; exit 7";
    Program run = start.apply(RunArgs.of(Nodes.url(NODES), List.of(), "sh", "-c", script, "@x"));
    run.type("typed\n");

    assertThat(run.exitCode()).isEqualTo(7);
    assertThat(run.out()).matches("typed\njob=.*:[0-9a-f]{40}\n");
    assertThat(run.err()).isEqualTo("warned\n");
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  @Tag("slow")
  void passesArgumentsAsTheyAre() {
    Program run =
        programs.holdfast(
            RunArgs.of(
                Nodes.url(NODES),
                List.of(),
                "printf",
                "%s|",
                "--name",
                "@file",
                "-h",
                "a b",
                "",
                "--",
                "${x}"));

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("--name|@file|-h|a b||--|${x}|");
  }

  @ParameterizedTest
  @Tag("slow")
  @ValueSource(strings = {"C", "C.UTF-8"})
  void aNameIsTheSameWhateverTheLocaleSays(String locale) {
    Program run =
        named("gr\\303\\266\\303\\237e", locale, "echo ready $HOLDFAST_NAME $LC_ALL; cat");

    run.awaitOut("ready größe " + locale + "\n");
    assertThat(NODES.node(0).command("EXISTS", "größe")).isEqualTo(1L);
    assertThat(run.type("").exitCode()).as(run.err()).isZero();
  }

  @Test
  @Tag("slow")
  void aNameThatIsNoTextIsRefusedBecauseTwoOfThemWouldBeOneLock() {
    Program run = named("gr\\366\\337e", "C", "echo ran");

    assertThat(run.exitCode()).isEqualTo(64);
    assertThat(run.err()).contains("is not UTF-8");
    assertThat(run.out()).isEmpty();
  }

  /** Passes letters that the test's own locale may not have. */
  private Program named(String octal, String locale, String script) {
    return programs.start(
        Map.of("LC_ALL", locale, "HOLDFAST_URL", Nodes.url(NODES)),
        List.of(
            "/bin/sh",
            "-c",
            "exec \"$0\" run --name \"$(printf '" + octal + "')\" -- sh -c '" + script + "'",
            Distribution.launcher().toString()));
  }

  @Test
  void theTokenIsTheValueOnTheNodes() {
    Program run = run("sh", "-c", "echo $HOLDFAST_TOKEN; cat").awaitOut("\n");

    assertThat(NODES.all())
        .allSatisfy(node -> assertThat(node.command("GET", "job")).isEqualTo(run.out().strip()));
    assertThat(run.type("").exitCode()).isZero();
  }

  @Test
  void givesAFencingTokenWhereThereIsOneAndNeverAnOldOne() {
    Map<String, String> inherited = Map.of("HOLDFAST_FENCING_TOKEN", "old");
    String[] echo = {"sh", "-c", "echo ${HOLDFAST_FENCING_TOKEN-none}"};

    String url = Nodes.url(NODES);
    Program fenced = start(inherited, url, List.of(), echo);
    assertThat(fenced.exitCode()).isZero();
    String without = url + (url.contains("?") ? "&" : "?") + "fencing=false";
    Program unfenced = start(inherited, without, List.of(), echo);

    assertThat(fenced.out()).matches("[1-9][0-9]*\n");
    assertThat(unfenced.exitCode()).isZero();
    assertThat(unfenced.out()).isEqualTo("none\n");
  }

  @ParameterizedTest
  @CsvSource({"kill -9 $$, 137", "kill -15 $$, 143", "exit 75, 75"})
  void endsAsTheCommandEnds(String script, int code) {
    assertThat(run("sh", "-c", script).exitCode()).isEqualTo(code);
  }

  @ParameterizedTest
  @CsvSource({"/no/such/command, 127", "/etc/passwd, 126"})
  void endsAsShellsDoIfTheCommandCannotBeRun(String command, int code) {
    Program run = run(command);

    assertThat(run.exitCode()).isEqualTo(code);
    assertThat(run.err()).startsWith("holdfast: cannot run '" + command + "': ").hasLineCount(1);
    assertThat(Nodes.holding(NODES, "job")).isZero();
  }

  @Test
  void endsWith75IfAnotherHoldsTheLockAndSaysWho() {
    Nodes.occupy(NODES, "job");

    Program run = run("echo", "ran");

    assertThat(run.exitCode()).isEqualTo(75);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("did not get the lock 'job'", "3 of 3 nodes").hasLineCount(1);
  }

  @Test
  void waitsForTheLockAndGetsItWhenItIsFree() {
    Nodes.occupy(NODES, "job");

    Program run = start(Map.of(), Nodes.url(NODES), List.of("--wait", "forever"), "echo", "ran");
    run.awaitErr("waiting for the lock 'job'");
    Nodes.remove(NODES, "job");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("ran\n");
  }

  @Test
  void endsWith69WithoutAQuorumAndNamesEachNode() {
    NODES.all().forEach(TestNode::freeze);

    Program run = start(Map.of(), impatientUrl(), List.of(), "echo", "ran");

    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.out()).isEmpty();
    assertThat(NODES.all())
        .allSatisfy(node -> assertThat(run.err()).containsOnlyOnce(node.address()));
    assertThat(run.err()).hasLineCount(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"lettuce", "jedis", "redisson"})
  void reportsAServerThatIsNotRedis(String driver) throws Exception {
    try (ServerSocket web = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread server = new Thread(() -> answerAsAWebServer(web));
      server.start();
      String url =
          "redlock:%s:redis://127.0.0.1:%d?connectTimeout=30s"
              .formatted(driver, web.getLocalPort());

      Program run = start(Map.of(), url, List.of(), "echo", "ran");

      assertThat(run.exitCode()).isEqualTo(69);
      assertThat(run.err()).contains("no Redis server");
    }
  }

  @Test
  void waitsForNodesToo() {
    NODES.all().forEach(TestNode::freeze);

    Program run = start(Map.of(), impatientUrl(), List.of("--wait", "forever"), "echo", "ran");
    run.awaitErr("waiting for the lock");
    NODES.all().forEach(TestNode::thaw);

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("ran\n");
  }

  @Test
  void takesTheUrlFromTheEnvironmentAndWarnsOfANodeThatIsDown() {
    NODES.node(0).kill();

    Program run =
        programs.inThisJvm(
            Map.of("HOLDFAST_URL", Nodes.url(NODES)), "run", "--name", "job", "echo", "ran");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).isEqualTo("ran\n");
    assertThat(run.err()).contains("holdfast: node " + NODES.node(0).address() + " is down");
    assertThat(run.err()).hasLineCount(1);
  }

  @Test
  void holdAtLeastKeepsOthersOut() {
    Program run = start(Map.of(), Nodes.url(NODES), List.of("--at-least", "30s"), "true");

    assertThat(run.exitCode()).isZero();
    assertThat(NODES.all())
        .allSatisfy(
            node -> assertThat((Long) node.command("PTTL", "job")).isBetween(10_000L, 30_000L));
  }

  private static void answerAsAWebServer(ServerSocket web) {
    try {
      while (!web.isClosed()) {
        try (Socket client = web.accept()) {
          client.getInputStream().read();
          client.getOutputStream().write("<html>400 Bad Request</html>\r\n".getBytes(US_ASCII));
          client.getOutputStream().flush();
          while (client.getInputStream().read() >= 0) {
            // Until the client has read, and hangs up.
          }
        } catch (SocketException e) {
          // The client has hung up, or the test is over.
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a URL that does not wait for frozen nodes. */
  private static String impatientUrl() {
    return Nodes.impatientUrl(NODES);
  }

  private Program run(String... command) {
    return start(Map.of(), Nodes.url(NODES), List.of(), command);
  }

  private Program start(
      Map<String, String> environment, String url, List<String> options, String... command) {
    return programs.inThisJvm(environment, RunArgs.of(url, options, command));
  }
}
