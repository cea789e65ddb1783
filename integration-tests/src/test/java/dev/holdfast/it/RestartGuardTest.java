package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ways in which real nodes forget, and the effects. The holder has the first two of three
 * nodes, because the third had another key at that time. Then the second forgets, and the third is
 * free: together they would be a quorum for another owner.
 */
@ForOneDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class RestartGuardTest {
  private static final int FORGETS = 1;
  private static final int FREE = 2;

  private final Cluster cluster;

  RestartGuardTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
    cluster.assumeScripts("the guard is a script");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  /** How a node that runs comes to be without what it granted. */
  enum Forgetting {
    RESTART_WITHOUT_DATA,
    RESTART_WITH_OLDER_DATA,
    FLUSHALL,
    SWAPDB,
    REPLICA_AND_BACK;

    void of(TestNode node) {
      switch (this) {
        case RESTART_WITHOUT_DATA -> node.restart();
        case RESTART_WITH_OLDER_DATA -> node.restartWithData();
        case FLUSHALL -> node.command("FLUSHALL");
        case SWAPDB -> {
          node.vouch(1);
          node.command("SWAPDB", "0", "1");
        }
        case REPLICA_AND_BACK -> {
          try (TestNodes others = TestNodes.start(1)) {
            Cluster.follow(node, others.node(0));
            node.command("REPLICAOF", "NO", "ONE");
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("exclusion")
  @Rule("GUARD-1")
  void aNodeThatForgetsGivesNoLockAway(Forgetting forgetting) throws InterruptedException {
    LockManager holder = cluster.open();
    LockManager other = cluster.open();
    Lease lease = heldByAll(holder, forgetting);

    Cluster.awaitVoteOf(cluster.node(FREE), other);
    for (int i = 0; i < 10; i++) {
      assertThat(other.tryAcquire("job", Cluster.TTL)).isEmpty();
    }
    lease.requireHeld();
  }

  @ParameterizedTest
  @EnumSource
  void withoutTheGuardTwoHold(Forgetting forgetting) throws InterruptedException {
    LockManager holder = cluster.open("restartGuard=off");
    LockManager other = cluster.open("restartGuard=off");
    Lease lease = heldByAll(holder, forgetting);

    Cluster.awaitVoteOf(cluster.node(FORGETS), other);
    Lease second = other.tryAcquire("job", Cluster.TTL).orElseThrow();
    lease.requireHeld();
    second.requireHeld();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  void aReplicaThatIsPromotedGivesNoLockAway() throws InterruptedException {
    try (TestNodes replicas = TestNodes.start(1)) {
      TestNode replica = replicas.node(0);
      Cluster.follow(replica, cluster.node(FORGETS));
      cluster.node(FORGETS).vouch(0); // a first replica begins a new history, too
      LockManager holder = cluster.open();
      replica.command("REPLICAOF", "NO", "ONE"); // it never gets the next commands
      Lease lease = holder.tryAcquire("job", Cluster.TTL).orElseThrow();

      LockManager other =
          cluster.openAt(List.of(cluster.node(0).uri(), replica.uri(), cluster.node(FREE).uri()));
      cluster.node(0).kill();
      cluster.node(FREE).command("DEL", "job");

      assertThatThrownBy(() -> other.tryAcquire("job", Cluster.TTL))
          .isInstanceOf(LockOutageException.class)
          .hasMessageContaining(replica.address() + ": it came back without its data");
      lease.requireHeld();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  void aReplicaHasNoVoteThoughItHasItsMastersHistoryAndRecord() throws InterruptedException {
    TestNode replica = cluster.node(FORGETS);
    LockManager locks = cluster.open();
    locks.tryAcquire("other", Cluster.TTL).orElseThrow().close();
    replica.command("CONFIG", "SET", "replica-read-only", "no");
    Cluster.follow(replica, cluster.node(0));
    cluster.node(0).vouch(0); // a first replica begins a new history, too
    cluster.node(FREE).command("SET", "job", "another's", "PX", "60000");
    Eventually.soon()
        .until(
            () ->
                Cluster.value(replica, "job") == null
                    && record(replica).equals(record(cluster.node(0))));
    assertThat(record(replica)).endsWith(", 0]");

    for (int i = 0; i < 10; i++) {
      assertThat(locks.tryAcquire("job", Cluster.TTL)).isEmpty();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-1", "GUARD-2"})
  void itsVoteCountsAgainWhenTheLongestTtlIsOver() throws InterruptedException {
    Duration ttl = Duration.ofSeconds(3);
    cluster.open("maxTtl=8s").tryAcquire("job", ttl).orElseThrow().close();
    long restarting = System.nanoTime();
    cluster.node(0).restart();
    cluster.node(1).restart();
    LockManager locks = cluster.open("maxTtl=8s");

    assertThatThrownBy(() -> locks.tryAcquire("job", ttl))
        .hasMessageContainingAll(
            cluster.node(0).address() + ": it is new or came back without its data",
            "(1 of 3 nodes voted, 2 in quarantine): no quorum votes before ");
    Eventually.soon()
        .ignoreExceptionsInstanceOf(LockOutageException.class)
        .until(() -> locks.tryAcquire("job", ttl).isPresent());

    assertThat(Duration.ofNanos(System.nanoTime() - restarting))
        .isBetween(Duration.ofMillis(8_900), Duration.ofSeconds(30));
  }

  @Test
  @Rule("GUARD-2")
  void theMessageAboutNodesThatLookNewSaysWhatToDo() {
    cluster.nodes().forEach(node -> node.command("FLUSHALL"));
    LockManager locks = cluster.open();

    assertThatThrownBy(() -> locks.tryAcquire("job", Duration.ofSeconds(3)))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContainingAll(
            "no lock yet: all 3 nodes are new, or have all lost their data; they begin to vote at ",
            "; if they really are new: holdfast nodes init --url …, or newNodes=trust")
        .hasMessageNotContainingAny("answered", "came back")
        .message() // 62 s less what the machine stood still
        .containsPattern("it looks new; its vote counts in [56]\\d s");
  }

  @ParameterizedTest
  @ValueSource(strings = {"maxTtl=59s", "cluster=bills"})
  @Rule("GUARD-4")
  void aClientThatDisagreesIsRefused(String option) throws InterruptedException {
    LockManager first = cluster.open();
    first.tryAcquire("job", Cluster.TTL).orElseThrow().close();
    List<?> record = (List<?>) cluster.node(0).command("HGETALL", "holdfast:guard");

    assertThatThrownBy(() -> cluster.open(option))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("its clients gave maxTtl=60000ms, 3 nodes and cluster=''");
    LockManager late = cluster.open(option, "connect=lazy");
    assertThatThrownBy(() -> late.tryAcquire("job", Cluster.TTL))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(cluster.node(0).command("HGETALL", "holdfast:guard")).isEqualTo(record);
    first.tryAcquire("job", Cluster.TTL).orElseThrow().close();
  }

  @Test
  @Rule("GUARD-4")
  void aClientOfAnotherNumberOfNodesIsRefused() throws InterruptedException {
    cluster.open().tryAcquire("job", Cluster.TTL).orElseThrow().close();
    List<String> more = new ArrayList<>(cluster.nodes().stream().map(TestNode::uri).toList());
    try (TestNodes two = TestNodes.start(2)) {
      more.addAll(two.uris());

      assertThatThrownBy(() -> cluster.openAt(more))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining(", 3 nodes and ");
    }
  }

  @Test
  @Rule("GUARD-4")
  void aRecordThatChangesUnderAnOpenManagerVetoesItsAttempts() throws InterruptedException {
    LockManager locks = cluster.open();
    locks.tryAcquire("job", Cluster.TTL).orElseThrow().close();
    cluster.nodes().forEach(node -> node.command("HSET", "holdfast:guard", "terms", "60000 5 "));

    assertThatThrownBy(() -> locks.tryAcquire("job", Cluster.TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("5 nodes");
    cluster.awaitNoLocks();
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-4", "GUARD-6"})
  void termsOfOthersOnANodeThatDoesNotVoteAreNoVeto() throws InterruptedException {
    Duration ttl = Duration.ofSeconds(1);
    TestNode node = cluster.node(FORGETS);
    node.command("HSET", "holdfast:guard", "terms", "60000 5 other");
    node.command("SAVE");
    LockManager locks = cluster.open("maxTtl=1s", "nodeTimeout=200ms", "connect=lazy");
    assertThatThrownBy(() -> locks.tryAcquire("job", ttl))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("its clients gave maxTtl=60000ms, 5 nodes and cluster='other'");

    node.restartWithData();

    Eventually.soon()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> locks.tryAcquire("job", ttl).map(lease -> lease.release()).orElse(false));
    Eventually.soon()
        .untilAsserted(
            () -> {
              locks.tryAcquire("job", ttl).orElseThrow().close();
              assertThat(node.command("HMGET", "holdfast:guard", "terms", "since"))
                  .isEqualTo(List.of("1000 3 ", "0"));
            });
  }

  @Test
  @Rule("GUARD-7")
  void connectingAndInspectingWriteNoTermsAndEndNoQuarantine() {
    cluster.nodes().forEach(node -> node.command("FLUSHALL"));
    LockManager wrong = cluster.open("maxTtl=1s", "cluster=wrong");
    Eventually.soon()
        .untilAsserted(
            () ->
                assertThat(wrong.unwrap(RestartGuardAdmin.class).orElseThrow().nodes())
                    .allSatisfy(node -> assertThat(node.left()).isZero()));
    wrong.inspect("job");
    cluster.open("maxTtl=1s", "cluster=wrong");

    assertThat(cluster.nodes())
        .allSatisfy(
            node ->
                assertThat(String.valueOf(node.command("HGETALL", "holdfast:guard")))
                    .contains("id", "since", "wall", "new")
                    .doesNotContain("terms", "longest", "since, 0"));
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-6", "GUARD-7"})
  void aWrongClientThatComesFirstStopsNoOtherClient() throws Exception {
    LockManager right = cluster.open("maxTtl=3s");
    Duration ttl = Duration.ofSeconds(3);
    right.tryAcquire("job", ttl).orElseThrow().close();
    for (TestNode node : cluster.nodes()) {
      node.restart();
      try (Persistent wrong =
          new Persistent(() -> cluster.open("maxTtl=1s", "nodeTimeout=200ms", "connect=lazy"))) {
        wrong.awaitRefusals(); // it is the first to see the node without its data
        for (long until = System.nanoTime() + 3_000_000_000L; System.nanoTime() < until; ) {
          right.acquire("job", ttl).close();
        }
        Eventually.soon()
            .untilAsserted(
                () -> {
                  right.acquire("job", ttl).close();
                  assertThat(guardOf(right).nodes())
                      .extracting(Node::state)
                      .containsOnly(State.VOTES);
                });
        wrong.awaitRefusals();
        assertThat(wrong.grants()).isZero();
      }
    }
    assertThat(cluster.nodes())
        .allSatisfy(
            node ->
                assertThat(node.command("HMGET", "holdfast:guard", "terms", "since"))
                    .isEqualTo(List.of("3000 3 ", "0")));
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  void theFirstAttemptAfterAQuarantineOfAllNodesGetsTheLock() throws InterruptedException {
    cluster.nodes().forEach(node -> node.command("FLUSHALL"));
    LockManager locks = cluster.open("maxTtl=1s", "nodeTimeout=500ms");
    RestartGuardAdmin guard = guardOf(locks);
    assertThat(guard.nodes()).extracting(Node::state).containsOnly(State.NEW);
    Eventually.soon()
        .untilAsserted(
            () -> assertThat(guard.nodes()).allSatisfy(n -> assertThat(n.left()).isZero()));

    locks.tryAcquire("job", Duration.ofSeconds(1)).orElseThrow().close();

    assertThat(guard.nodes()).extracting(Node::state).containsOnly(State.VOTES);
  }

  private static RestartGuardAdmin guardOf(LockManager locks) {
    return locks.unwrap(RestartGuardAdmin.class).orElseThrow();
  }

  /** A lease that the first two nodes granted, and one of them has forgotten. The third is free. */
  private Lease heldByAll(LockManager holder, Forgetting forgetting) throws InterruptedException {
    cluster.node(FREE).command("SET", "job", "another's", "PX", "60000");
    cluster.node(FORGETS).command("SAVE");
    Lease lease = holder.tryAcquire("job", Cluster.TTL).orElseThrow();
    forgetting.of(cluster.node(FORGETS));
    cluster.node(FREE).command("DEL", "job");
    assertThat(Cluster.value(cluster.node(FORGETS), "job")).isNull();
    return lease;
  }

  private static String record(TestNode node) {
    return String.valueOf(node.command("HMGET", "holdfast:guard", "id", "since"));
  }
}
