package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What real nodes forget, and what comes of it. Of three nodes the holder has the first two,
 * because the third had another key at that time. Then the second forgets, and the third is free:
 * together they would be a quorum for somebody else.
 */
@ForEachDriver
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
  @Rule("GUARD-1")
  void aReplicaThatIsPromotedGivesNoLockAway() throws InterruptedException {
    try (TestNodes replicas = TestNodes.start(1)) {
      TestNode replica = replicas.node(0);
      Cluster.follow(replica, cluster.node(FORGETS));
      cluster.node(FORGETS).vouch(0); // a first replica begins a new history, too
      LockManager holder = cluster.open();
      replica.command("REPLICAOF", "NO", "ONE"); // what comes now, it never gets
      Lease lease = holder.tryAcquire("job", Cluster.TTL).orElseThrow();

      LockManager other =
          cluster.openAt(List.of(cluster.node(0).uri(), replica.uri(), cluster.node(FREE).uri()));
      cluster.node(0).kill();
      cluster.node(FREE).command("DEL", "job");

      assertThatThrownBy(() -> other.tryAcquire("job", Cluster.TTL))
          .isInstanceOf(LockBackendException.class)
          .hasMessageContaining(replica.address() + ": it came back without its data");
      lease.requireHeld();
    }
  }

  @Test
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
  @Rule({"GUARD-1", "GUARD-2"})
  void itsVoteCountsAgainWhenTheLongestTtlIsOver() throws InterruptedException {
    Duration ttl = Duration.ofSeconds(3);
    cluster.open("maxTtl=3s").tryAcquire("job", ttl).orElseThrow().close();
    long restarting = System.nanoTime();
    cluster.node(0).restart();
    cluster.node(1).restart();
    LockManager locks = cluster.open("maxTtl=3s");

    assertThatThrownBy(() -> locks.tryAcquire("job", ttl))
        .hasMessageContainingAll(
            cluster.node(0).address() + ": it came back without its data",
            "no quorum votes before ");
    Eventually.soon()
        .ignoreExceptionsInstanceOf(LockBackendException.class)
        .until(() -> locks.tryAcquire("job", ttl).isPresent());

    assertThat(Duration.ofNanos(System.nanoTime() - restarting))
        .isBetween(Duration.ofMillis(3_900), Duration.ofSeconds(30));
  }

  @Test
  @Rule("GUARD-2")
  void ofNodesThatLookNewTheMessageSaysWhatToDo() {
    cluster.nodes().forEach(node -> node.command("FLUSHALL"));
    LockManager locks = cluster.open();

    assertThatThrownBy(() -> locks.tryAcquire("job", Duration.ofSeconds(3)))
        .isInstanceOf(LockBackendException.class)
        .hasMessageContainingAll(
            "0 of 3 nodes answered",
            "; these nodes look new: holdfast nodes init",
            "it came back without its data 0 s ago; its vote counts again in 6");
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
  void aClientOfAnotherNumberOfNodesIsRefused() {
    cluster.open();
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

  /** A lease that the first two nodes granted, and one of them has forgotten; the third is free. */
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
