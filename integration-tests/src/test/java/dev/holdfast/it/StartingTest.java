package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** An application starts while something is wrong with its nodes. */
@ForEachDriver
class StartingTest {
  /** What the machine may add to a limit. */
  private static final Duration SLACK = Duration.ofMillis(500);

  private final Cluster cluster;

  StartingTest(Backend backend) {
    cluster = Cluster.of(backend);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"OPEN-1", "FAULT-3"})
  void aMinorityThatIsDownIsUsedOnceItReturns() throws InterruptedException {
    List<TestNode> down = cluster.nodes().subList(3, 5);
    down.forEach(TestNode::kill);

    try (Logs logs = Logs.kept()) {
      LockManager locks = cluster.open();
      try (Lease lease = locks.tryAcquire("early", Cluster.TTL).orElseThrow()) {
        lease.requireHeld();
      }
      down.forEach(TestNode::restart);
      down.forEach(node -> Cluster.awaitVoteOf(node, locks));

      assertThat(down)
          .allSatisfy(
              node -> {
                assertThat(logs.lines())
                    .filteredOn(line -> line.contains(node.address() + " is down"))
                    .hasSize(1);
                assertThat(logs.lines())
                    .filteredOn(line -> line.contains(node.address() + " is back"))
                    .hasSize(1);
              });
    }
  }

  @Test
  @Rule({"OPEN-1", "FAULT-3"})
  void aMinorityThatHangsIsUsedOnceItAnswers() throws InterruptedException {
    List<TestNode> frozen = cluster.nodes().subList(3, 5);
    frozen.forEach(TestNode::freeze);

    long start = System.nanoTime();
    LockManager locks = cluster.open("connectTimeout=5s");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(3));
    try (Lease lease = locks.tryAcquire("early", Cluster.TTL).orElseThrow()) {
      lease.requireHeld();
    }
    frozen.forEach(TestNode::thaw);
    frozen.forEach(node -> Cluster.awaitVoteOf(node, locks));
  }

  @Test
  @Rule({"OPEN-1", "ERR-2"})
  void noQuorumThatCanBeReachedIsAnOutageNamingEachNode() {
    List<TestNode> dead = cluster.nodes().subList(0, 2);
    List<TestNode> frozen = cluster.nodes().subList(2, 3);
    dead.forEach(TestNode::kill);
    frozen.forEach(TestNode::freeze);

    long start = System.nanoTime();
    LockBackendException outage =
        catchThrowableOfType(
            LockBackendException.class, () -> cluster.open("connectTimeout=400ms"));

    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isLessThan(Duration.ofMillis(400).plus(SLACK));
    assertThat(outage.failures()).containsOnlyKeys(cluster.addresses().subList(0, 3));
    assertThat(outage).hasMessageContaining("2 of 5");
  }

  @Test
  @Rule({"OPEN-1", "ERR-2"})
  void allNodesHangingIsAnOutageWithinTheTimeOutForConnecting() {
    cluster.nodes().forEach(TestNode::freeze);

    long start = System.nanoTime();
    LockBackendException outage =
        catchThrowableOfType(
            LockBackendException.class, () -> cluster.open("connectTimeout=400ms"));

    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(400), Duration.ofMillis(400).plus(SLACK));
    assertThat(outage.failures()).containsOnlyKeys(cluster.addresses());
  }

  @Test
  @Rule({"OPEN-4", "FAULT-3", "ERR-2"})
  void aLazyManagerOpensWithoutNodesAndConnectsForTheFirstLock() {
    cluster.nodes().forEach(TestNode::kill);

    LockManager locks = cluster.open("connect=lazy");
    LockBackendException outage =
        catchThrowableOfType(
            LockBackendException.class, () -> locks.tryAcquire("early", Cluster.TTL));
    assertThat(outage.failures()).containsOnlyKeys(cluster.addresses());

    cluster.nodes().forEach(TestNode::restart);
    cluster.nodes().forEach(node -> Cluster.awaitVoteOf(node, locks));
  }

  @Test
  @Rule("OPEN-4")
  void aLazyManagerThatIsNotUsedConnectsToNothing() {
    cluster.nodes().forEach(TestNode::resetCommandCounts);

    LockManager locks = cluster.open("connect=lazy");
    assertThat(locks.capabilities()).isNotEmpty();

    assertThat(cluster.nodes())
        .allSatisfy(
            node ->
                assertThat(node.commandCounts().keySet())
                    .allMatch(command -> command.startsWith("config"))); // that of the reset
  }

  @Test
  @Rule("OPEN-4")
  void theFirstLockOfALazyManagerIsGotAtOnce() throws InterruptedException {
    LockManager locks = cluster.open("connect=lazy");

    try (Lease lease = locks.tryAcquire("first", Cluster.TTL).orElseThrow()) {
      lease.requireHeld();
    }
  }

  @RepeatedTest(5)
  @Rule("OPEN-2")
  void theSameServerUnderTwoNamesIsAMistake() {
    List<String> uris = new ArrayList<>(cluster.nodes().stream().map(TestNode::uri).toList());
    uris.set(4, cluster.node(1).uri().replace("127.0.0.1", "localhost"));

    assertThatThrownBy(() -> cluster.openAt(uris))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("127.0.0.1:" + cluster.node(1).port())
        .hasMessageContaining("localhost:" + cluster.node(1).port())
        .hasMessageContaining("same server")
        .hasMessageContaining("each server once");
  }

  @Test
  @Rule("OPEN-2")
  void aReplicaIsAMistake() {
    TestNode replica = cluster.node(3);
    replica.command("REPLICAOF", cluster.node(0).host(), "" + cluster.node(0).port());

    assertThatThrownBy(cluster::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(replica.address())
        .hasMessageContaining("replica of " + cluster.node(0).address())
        .hasMessageContaining("list masters only");
  }

  @Test
  @Rule({"OPEN-2", "FAULT-3"})
  void aNodeThatBecameAReplicaWhileItWasAwayDoesNotVote() throws InterruptedException {
    LockManager locks = cluster.open();
    TestNode replica = cluster.node(3);
    try (Logs logs = Logs.kept()) {
      replica.command("REPLICAOF", replica.host(), "1");
      replica.command("CLIENT", "KILL", "TYPE", "normal");
      Eventually.soon()
          .until(() -> logs.lines().stream().anyMatch(line -> line.contains("it is a replica of")));
    }
    replica.resetCommandCounts();
    try (Lease lease = locks.tryAcquire("four vote", Cluster.TTL).orElseThrow()) {
      lease.requireHeld();
    }
    assertThat(replica.commandCounts()).doesNotContainKeys("set", "eval", "evalsha");
    replica.command("REPLICAOF", "NO", "ONE");
    Cluster.awaitVoteOf(replica, locks);
  }

  @Test
  @Rule("OPEN-3")
  void aNodeThatCanEvictLocksIsWarnedOf() throws InterruptedException {
    TestNode evicting = cluster.node(2);
    evicting.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");

    try (Logs logs = Logs.kept()) {
      LockManager locks = cluster.open();

      assertThat(logs.lines())
          .filteredOn(line -> line.contains("maxmemory-policy"))
          .singleElement()
          .satisfies(
              line ->
                  assertThat(line).contains("WARNING", evicting.address(), "allkeys-lru", "evict"));
      Cluster.awaitVoteOf(evicting, locks);
    }
  }
}
