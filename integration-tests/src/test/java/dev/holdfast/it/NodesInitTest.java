package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** New nodes are initialised by hand, and no others. */
@ForOneDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class NodesInitTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String RECORD = "holdfast:guard";

  private final Cluster cluster;

  NodesInitTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
    cluster.assumeScripts("the guard is a script");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"GUARD-2", "GUARD-5"})
  void newNodesVoteOnceTheyAreMarked() throws InterruptedException {
    unmark(cluster.nodes());
    LockManager locks = cluster.open();
    RestartGuardAdmin guard = guardOf(locks);
    assertThatThrownBy(() -> locks.tryAcquire("job", TTL))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("; if they really are new: holdfast nodes init");
    assertThat(guard.nodes())
        .hasSize(3)
        .allSatisfy(
            node -> {
              assertThat(node.state()).isEqualTo(State.NEW);
              assertThat(node.left()).isBetween(Duration.ofSeconds(50), Duration.ofMillis(61_602));
            });

    guard.init();

    assertThat(guard.nodes()).extracting(Node::state).containsOnly(State.VOTES);
    try (Lease lease = locks.tryAcquire("job", TTL).orElseThrow()) {
      lease.requireHeld();
    }
    try (Lease lease = cluster.open().tryAcquire("job", TTL).orElseThrow()) {
      lease.requireHeld();
    }
  }

  @Test
  @Rule("GUARD-5")
  void aNodeThatVotesKeepsTheOthersFromBeingMarked() {
    unmark(cluster.nodes().subList(1, 3));
    RestartGuardAdmin guard = guardOf(cluster.open());

    assertThatThrownBy(guard::init)
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("some nodes are not new")
        .hasMessageContaining(cluster.node(0).address() + ": it votes");
    assertThat(guard.nodes())
        .extracting(Node::state)
        .containsExactly(State.VOTES, State.NEW, State.NEW);
  }

  @Test
  @Rule({"GUARD-2", "GUARD-5"})
  void aNodeThatWasThereBeforeKeepsTheOthersFromBeingMarked() {
    unmark(cluster.nodes());
    RestartGuardAdmin guard = guardOf(cluster.open());
    cluster.node(1).command("SAVE");
    cluster.node(1).restartWithData();
    Eventually.soon()
        .untilAsserted(
            () ->
                assertThat(guard.nodes())
                    .extracting(Node::state)
                    .containsExactly(State.NEW, State.QUARANTINED, State.NEW));

    assertThatThrownBy(guard::init)
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining(cluster.node(1).address() + ": it came back without its data");
    assertThat(guard.nodes()).extracting(Node::state).doesNotContain(State.VOTES);
  }

  @Test
  @Rule("GUARD-5")
  void aNodeThatDoesNotAnswerKeepsTheOthersFromBeingMarked() {
    unmark(cluster.nodes());
    RestartGuardAdmin guard = guardOf(cluster.open("nodeTimeout=1s"));
    cluster.node(2).freeze();

    assertThatThrownBy(guard::init)
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("not all nodes answer")
        .hasMessageContaining(cluster.node(2).address());
    assertThat(guard.nodes())
        .extracting(Node::state)
        .containsExactly(State.NEW, State.NEW, State.UNREACHABLE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"maxTtl=20s", "cluster=bills"})
  @Rule({"GUARD-4", "GUARD-5"})
  void nodesOfOtherClientsAreLeftAsTheyAre(String option) {
    unmark(cluster.nodes());
    guardOf(cluster.open()).init();
    List<String> before = records();
    RestartGuardAdmin other = guardOf(cluster.open(option, "connect=lazy"));

    assertThatThrownBy(other::init)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(cluster.node(0).address())
        .hasMessageContaining("maxTtl=60000ms, 3 nodes and cluster=''");
    assertThat(other.nodes()).extracting(Node::state).containsOnly(State.FOREIGN);
    assertThat(records()).isEqualTo(before);
  }

  @Test
  @Rule("GUARD-8")
  void newNodesThatAreTrustedVoteAtOnce() throws InterruptedException {
    unmark(cluster.nodes());
    LockManager locks = cluster.open("newNodes=trust");
    locks.tryAcquire("job", TTL).orElseThrow().close();
    locks.close();
    cluster.open().tryAcquire("job", TTL).orElseThrow().close();

    unmark(cluster.nodes().subList(1, 3)); // not all look new
    LockManager again = cluster.open("newNodes=trust");
    assertThatThrownBy(() -> again.tryAcquire("job", TTL))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("(1 of 3 nodes voted, 2 in quarantine): no quorum votes before ");
  }

  @Test
  @Rule("GUARD-8")
  void nodesThatLoseTheirDataUnderATrustingManagerWait() throws InterruptedException {
    unmark(cluster.nodes());
    LockManager locks = cluster.open("newNodes=trust");
    locks.tryAcquire("job", TTL).orElseThrow().close();
    cluster.nodes().forEach(node -> node.command("FLUSHALL"));

    assertThatThrownBy(() -> locks.tryAcquire("job", TTL))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("no lock yet: all 3 nodes are new, or have all lost their data");
  }

  @Test
  @Rule("GUARD-5")
  void nodesThatVoteAreLeftAsTheyAre() {
    RestartGuardAdmin guard = guardOf(cluster.open());
    List<String> before = records();

    guard.init();

    assertThat(records()).isEqualTo(before);
  }

  private List<String> records() {
    return cluster.nodes().stream().map(NodesInitTest::record).toList();
  }

  private static String record(TestNode node) {
    return String.valueOf(node.command("HMGET", RECORD, "id", "terms", "since", "new"));
  }

  private static void unmark(List<TestNode> nodes) {
    nodes.forEach(node -> node.command("DEL", RECORD));
  }

  private static RestartGuardAdmin guardOf(LockManager locks) {
    return locks.unwrap(RestartGuardAdmin.class).orElseThrow();
  }
}
