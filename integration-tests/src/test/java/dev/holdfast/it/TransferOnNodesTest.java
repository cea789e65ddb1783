package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Transfers between managers on real nodes that differ in their options, or lost their data. */
@ForOneDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class TransferOnNodesTest {
  private static final Duration TTL = Cluster.TTL;
  private static final LockRequest REQUEST = LockRequest.of("job", TTL);

  private final Backend backend;
  private final Cluster cluster;

  TransferOnNodesTest(Backend backend) {
    this.backend = backend;
    cluster = Cluster.of(backend, 3);
    cluster.assumeScripts("the guard is a script");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("TRANSFER-7")
  void anAdopterWithAnotherMaxTtlIsRefusedAndAsksNoNode() throws InterruptedException {
    String text = cluster.open().acquire(REQUEST).transfer(TTL);
    LockManager stranger = cluster.open("maxTtl=61s", "connect=lazy");

    assertThatThrownBy(() -> stranger.adopt(text, REQUEST))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("maxTtl=61000ms");

    assertThat(cluster.open().adopt(text, REQUEST).isHeld()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  void withoutTheGuardAnAdopterMayHaveAShorterMaxTtl() throws InterruptedException {
    Duration ttl = Duration.ofSeconds(5);
    Lease lease = cluster.open("restartGuard=off").acquire(REQUEST);
    String text = lease.transfer(TTL);
    LockManager other = cluster.open("restartGuard=off", "maxTtl=5s");

    Lease adopted = other.adopt(text, LockRequest.of("job", ttl));

    assertThat(adopted.remaining()).isLessThanOrEqualTo(ttl);
    assertThat(adopted.fencingToken().orElseThrow())
        .isGreaterThan(lease.fencingToken().orElseThrow());
    assertThat(cluster.nodes())
        .filteredOn(node -> adopted.token().equals(Cluster.value(node, "job")))
        .hasSizeGreaterThan(1)
        .allSatisfy(node -> assertThat(Cluster.ttl(node, "job")).isLessThanOrEqualTo(ttl));
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  void aNodeInQuarantineAdoptsNothingThoughTheLeaseCountedItsVote() throws InterruptedException {
    LockManager locks = cluster.open();
    cluster.node(2).freeze(); // so that the vote of node 1 decides, and is no late one
    Lease lease = locks.acquire(REQUEST);
    cluster.node(2).thaw();
    awaitHeldOn(cluster.node(2), lease);
    cluster.node(1).command("FLUSHALL");
    lease.extend(TTL); // puts the key back, and counts the vote from now on
    awaitHeldOn(cluster.node(1), lease);
    lease.extend(TTL); // gives a late vote the time of another round
    cluster.node(2).kill();
    String text = lease.transfer(TTL);
    LockManager other = cluster.open();

    assertThatThrownBy(() -> other.adopt(text, REQUEST))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining(
            cluster.node(1).address() + ": it is new or came back without its data");
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  void aMinorityThatRestartsEmptyStopsNoAdoption() throws InterruptedException {
    String text = heldOnAll().transfer(TTL);
    LockManager other = cluster.open();
    cluster.node(1).restart();

    Lease adopted = other.adopt(text, REQUEST);

    adopted.requireHeld();
    assertThat(adopted.release()).isTrue();
  }

  @Test
  @Rule("TRANSFER-9")
  void otherNodesAndAnotherKeyPrefixAreRefusedBeforeAnyInput() throws InterruptedException {
    String text = cluster.open().acquire(REQUEST).transfer(TTL);
    List<String> one = List.of(cluster.node(0).uri());

    for (LockManager other :
        List.of(cluster.open("keyPrefix=app:"), cluster.openAt(one, "restartGuard=off"))) {
      assertThatThrownBy(() -> other.adopt(text, REQUEST))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("redlock, 3 nodes, keyPrefix ''");
    }

    cluster.open().adopt(text, REQUEST).requireHeld();
  }

  @Test
  @Rule("TRANSFER-7")
  void nodesOfAnotherClusterDoNotKnowTheLockAndSpoilNoText() throws InterruptedException {
    String text = cluster.open().acquire(REQUEST).transfer(TTL);
    try (Cluster others = Cluster.of(backend, 3)) {
      LockManager stranger = others.open();

      assertThatThrownBy(() -> stranger.adopt(text, REQUEST))
          .isInstanceOfSatisfying(
              LockLostException.class,
              lost -> assertThat(lost.reason()).isEqualTo(LossReason.REMOVED));

      assertThat(others.nodes())
          .allSatisfy(node -> assertThat(Cluster.value(node, "job")).isNull());
    }

    cluster.open().adopt(text, REQUEST).requireHeld();
  }

  @Test
  @Rule("TRANSFER-8")
  void aTextWhoseTimeIsOverIsALoss() throws InterruptedException {
    String text = cluster.open().acquire(REQUEST).transfer(Duration.ofMillis(50));
    cluster.nodes().forEach(node -> node.command("PEXPIRE", "job", "1"));
    cluster.awaitNoLocks();
    LockManager other = cluster.open();

    assertThatThrownBy(() -> other.adopt(text, REQUEST))
        .isInstanceOfSatisfying(
            LockLostException.class,
            lost -> assertThat(lost.reason()).isEqualTo(LossReason.REMOVED))
        .hasMessageContaining("or its time ran out");
  }

  private Lease heldOnAll() throws InterruptedException {
    Lease lease = cluster.open().acquire(REQUEST);
    cluster.nodes().forEach(node -> awaitHeldOn(node, lease));
    return lease;
  }

  private static void awaitHeldOn(TestNode node, Lease lease) {
    Eventually.soon().until(() -> lease.token().equals(Cluster.value(node, "job")));
  }
}
