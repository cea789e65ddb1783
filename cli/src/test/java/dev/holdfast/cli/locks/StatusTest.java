package dev.holdfast.cli.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.cli.Distribution;
import dev.holdfast.cli.Limits;
import dev.holdfast.cli.Nodes;
import dev.holdfast.cli.Program;
import dev.holdfast.cli.Programs;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast status} on real nodes. The one that watches is a process. */
class StatusTest {
  private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ ";

  @AutoClose private static final TestNodes NODES = TestNodes.start(3);

  private final Programs programs = new Programs();

  @AfterEach
  void end() {
    programs.close();
    Nodes.thaw(NODES);
    Nodes.remove(NODES, "job");
  }

  @ParameterizedTest
  @ValueSource(strings = {"redlock:", "redlock:lettuce:", "redlock:jedis:", "redlock:redisson:"})
  void showsTheHolderWithEveryDriver(String start) throws InterruptedException {
    String url = Nodes.url(NODES).replaceFirst("^redlock:", start);
    try (LockManager locks = new Backend(url).open();
        Lease lease = locks.acquire("job", Duration.ofSeconds(30))) {
      assertThat(lease.isHeld()).isTrue();
      assertShowsTheHolder(programs.inThisJvm("status", "job", "--url", url));
    }

    Program free = programs.inThisJvm("status", "job", "--url", url);
    assertThat(free.exitCode()).as(free.err()).isEqualTo(1);
    assertThat(free.out()).isEqualTo("job: free\n");
  }

  @Test
  void asAProcessItShowsAnotherHolder() {
    String url = Nodes.url(NODES);
    Program holder =
        programs
            .holdfast("run", "--name", "job", "--url", url, "--", "sh", "-c", "echo ready; cat")
            .awaitOut("ready");

    assertShowsTheHolder(programs.holdfast("status", "job", "--url", url));

    assertThat(holder.type("").exitCode()).isZero();
    Program free = programs.holdfast("status", "job", "--url", url);
    assertThat(free.exitCode()).as(free.err()).isEqualTo(1);
    assertThat(free.out()).isEqualTo("job: free\n");
  }

  private static void assertShowsTheHolder(Program held) {
    assertThat(held.exitCode()).as(held.err()).isZero();
    assertThat(held.out())
        .matches("job: held by \\S+:\\d+; [23] of 3 nodes agree; \\d+\\.\\d s left\n");
    // On a busy machine a node may be taken for down for a short time, by another manager that logs
    // in
    // this JVM.
    assertThat(held.err().replaceAll("holdfast: node \\S+ is (back|down: .*)\n", "")).isEmpty();
  }

  @Test
  void aLockIsNotFreeBecauseNodesThatLostTheirDataFindNoKey() {
    try (TestNodes forgetful = TestNodes.start(3)) {
      forgetful.node(0).command("FLUSHALL");
      String url = Nodes.url(forgetful);
      assertThat(programs.inThisJvm("status", "job", "--url", url).exitCode())
          .as("two vote")
          .isEqualTo(1);

      forgetful.node(1).command("FLUSHALL");
      Program unknown = programs.inThisJvm("status", "job", "--url", url);

      assertThat(unknown.exitCode()).as(unknown.out()).isEqualTo(69);
      assertThat(unknown.out()).isEmpty();
      assertThat(unknown.err())
          .contains(
              "no quorum votes, so it is not known whether the lock is" + " free",
              "its vote counts again");
    }
  }

  @Test
  void showsTheSameAsJson() {
    Program free = status("--json");
    assertThat(free.exitCode()).isEqualTo(1);
    assertThat(free.out()).isEqualTo("{\"name\": \"job\", \"state\": \"free\"}\n");

    Nodes.occupy(NODES, "job");
    Program held = status("--json");
    assertThat(held.exitCode()).isZero();
    assertThat(held.out())
        .matches(
            "\\{\"name\": \"job\", \"state\": \"held\", \"owner\": \"[^\"]+\", \"agreeing\": [23],"
                + " \"nodes\": 3, \"remainingMillis\": \\d{4,5}}\n");
  }

  @Test
  void aLockIsNeitherHeldNorFreeIfFewerNodesThanAQuorumAgree() {
    NODES.node(0).command("SET", "job", Nodes.FOREIGN, "PX", "60000");

    Program status = status();

    assertThat(status.exitCode()).isZero();
    assertThat(status.out()).startsWith("job: no quorum agrees").contains("1 of 3 nodes");
    assertThat(status("--json").awaitOut("\"no-quorum\"").exitCode()).isZero();
  }

  @Test
  void minorityThatIsDownIsShownAndDoesNotMatter() {
    Nodes.occupy(NODES, "job");
    NODES.node(0).freeze();

    Program status = status();

    assertThat(status.exitCode()).as(status.err()).isZero();
    assertThat(status.out()).contains("2 of 3 nodes agree");
  }

  @Test
  void endsWith69WithoutAQuorumAndNamesEachNodeAndNoPassword() {
    NODES.all().forEach(TestNode::freeze);
    String url = Nodes.impatientUrl(NODES).replaceAll("redis://", "redis://:geheim@");

    Program status = programs.inThisJvm("status", "job", "--url", url);

    assertThat(status.exitCode()).isEqualTo(69);
    assertThat(status.out()).isEmpty();
    assertThat(NODES.all()).allSatisfy(node -> assertThat(status.err()).contains(node.address()));
    assertThat(status.err()).doesNotContain("geheim");
  }

  @Test
  void takesTheUrlFromTheEnvironment() {
    Program status = programs.inThisJvm(Map.of("HOLDFAST_URL", Nodes.url(NODES)), "status", "job");

    assertThat(status.exitCode()).as(status.err()).isEqualTo(1);
  }

  @Test
  void watchingPrintsALineForEachChangeAndGoesOnThroughOutages() throws IOException {
    assumeThat(Program.ignoresSignalOf(130)).as("our parent ignores SIGINT").isFalse();
    Program watch = watch(Map.of(), "--interval", "50ms").awaitOut("job: free\n");
    Nodes.occupy(NODES, "job");
    watch.awaitOut("; 3 of 3 nodes agree; ");
    NODES.all().forEach(TestNode::freeze);
    watch.awaitOut("job: unknown: ");
    NODES.all().forEach(TestNode::thaw);
    await().atMost(Limits.LONG).until(() -> watch.out().lines().count() >= 4);
    await().atMost(Limits.LONG).until(() -> lastOf(watch).contains("; 3 of 3 nodes agree; "));
    Nodes.remove(NODES, "job");
    await().atMost(Limits.LONG).until(() -> lastOf(watch).endsWith("job: free"));

    assertThat(watch.signal("INT").exitCode()).isEqualTo(130);

    List<String> lines = watch.out().lines().toList();
    assertThat(lines).allSatisfy(line -> assertThat(line).containsPattern("^" + TIME + "job: "));
    for (int i = 1; i < lines.size(); i++) {
      assertThat(withoutTimes(lines.get(i))).isNotEqualTo(withoutTimes(lines.get(i - 1)));
    }
    assertThat(watch.err()).isEmpty();
  }

  @ParameterizedTest
  @Tag("slow")
  @CsvSource({"INT, 130", "TERM, 143"})
  void watchingAsJsonIsAnObjectALineUntilASignal(String signal, int code) throws IOException {
    assumeThat(Program.ignoresSignalOf(code)).as("our parent ignores it").isFalse();
    Program watch = watch(Map.of(), "--json", "--interval", "50ms").awaitOut("\"free\"}\n");
    Nodes.occupy(NODES, "job");
    watch.awaitOut("\"agreeing\": 3");

    assertThat(watch.signal(signal).exitCode()).isEqualTo(code);

    assertThat(watch.out().lines())
        .allSatisfy(
            line -> assertThat(line).matches("\\{\"time\": \"[^\"]+Z\", \"name\": \"job\", .*}"));
  }

  @Test
  @Tag("slow")
  void watchingOnATerminalDrawsOverWhatItHasDrawn() throws IOException {
    assumeThat(Program.ignoresSignalOf(130)).as("our parent ignores SIGINT").isFalse();
    Nodes.occupy(NODES, "job");
    Program watch =
        watch(
            Map.of("TERM", "xterm", "HOLDFAST_JAVA_OPTS", "-Dholdfast.terminal.out=true"),
            "--interval",
            "50ms");
    await().atMost(Limits.LONG).until(() -> watch.out().split("\u001b\\[3A", -1).length > 3);

    assertThat(watch.signal("INT").exitCode()).isEqualTo(130);

    assertThat(watch.out()).contains("\u001b[?25l", "3 of 3 nodes agree").endsWith("\u001b[?25h\n");
  }

  @Test
  @Tag("slow")
  void watchingEndsWhenItsOutputIsClosed() {
    String script = "\"$0\" status job --watch --interval 50ms | head -n 1; echo ${PIPESTATUS[0]}";
    Program watch =
        programs.start(
            Map.of("HOLDFAST_URL", Nodes.url(NODES)),
            List.of("bash", "-c", script, Distribution.launcher().toString()));
    watch.awaitOut("job: free\n");

    Nodes.occupy(NODES, "job");

    assertThat(watch.awaitOut("141").exitCode()).isZero();
  }

  private Program status(String... options) {
    return programs.inThisJvm(with(options, "status", "job", "--url", Nodes.url(NODES)));
  }

  private Program watch(Map<String, String> environment, String... options) {
    return programs.holdfast(
        environment, with(options, "status", "job", "--watch", "--url", Nodes.url(NODES)));
  }

  private static String[] with(String[] options, String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(List.of(options));
    return all.toArray(new String[0]);
  }

  private static String lastOf(Program watch) {
    return watch.out().lines().reduce("", (before, line) -> line);
  }

  private static String withoutTimes(String line) {
    return line.replaceFirst(TIME, "").replaceFirst("; [0-9.]+ s left$", "");
  }
}
