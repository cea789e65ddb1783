package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A lease on three nodes outlives what happens to them one by one. */
@ForOneDriver
@Execution(ExecutionMode.CONCURRENT) // each test has nodes of its own
class RenewalOnNodesTest {
  /** So that a renewal, a reconnection and the next renewal fit into it. */
  private static final Duration RENEWED = Duration.ofMillis(7_500);

  /** Covers the start of a container on a busy machine, and a few renewals. */
  private static final Duration RESTART = Duration.ofMinutes(1);

  private static final Duration HOUR = Duration.ofHours(1);

  private final Cluster cluster;
  private final LockManager locks;

  RenewalOnNodesTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
    locks = cluster.open("nodeTimeout=1s");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"KEEP-1", "EXT-7"})
  void aLeaseIsKeptAliveWhileItsNodesRestartEmptyOneByOne() throws InterruptedException {
    Lease lease =
        locks.tryAcquire(LockRequest.of("long", RENEWED).keepAliveUpTo(HOUR)).orElseThrow();
    for (TestNode node : cluster.nodes()) {
      node.restart();
      Eventually.within(RESTART).until(() -> lease.token().equals(Cluster.value(node, "long")));
      lease.requireHeld();
    }

    assertThat(lease.onLoss()).isNotDone();
    assertThat(locks.inspect("long").orElseThrow().votes().granted()).isEqualTo(3);
    assertThat(lease.release()).isTrue();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"KEEP-1", "FAULT-1"})
  void aLeaseIsKeptAliveWhileAMinorityHangs() throws InterruptedException {
    Duration ttl = Duration.ofSeconds(3);
    Lease lease = locks.tryAcquire(LockRequest.of("long", ttl).keepAliveUpTo(HOUR)).orElseThrow();
    cluster.node(1).freeze();
    long granted = System.nanoTime();

    Eventually.soon().until(() -> System.nanoTime() - granted > 3 * ttl.toNanos() / 2);

    lease.requireHeld();
    lease.close();
  }
}
