package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lease on three nodes is renewed, or lost, while nodes lose its keys or go. */
@ForEachDriver
class RenewalOnNodesTest {
  private static final Duration RENEWED = Duration.ofMillis(1_500);
  private static final Duration HOUR = Duration.ofHours(1);

  private final Cluster cluster;
  private final LockManager locks;

  RenewalOnNodesTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
    locks = cluster.open("nodeTimeout=200ms");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"EXT-1", "EXT-4", "EXT-7"})
  void aNodeThatLostTheKeyGetsItBackAndCountsFromTheNextRoundOn() throws InterruptedException {
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
    restartEmpty(cluster.node(0));
    cluster.node(1).freeze();

    LockBackendException oneVoteIsTooFew =
        catchThrowableOfType(LockBackendException.class, () -> lease.extend(Cluster.TTL));
    assertThat(oneVoteIsTooFew.failures()).containsOnlyKeys(cluster.node(1).address());
    assertThat(Cluster.value(cluster.node(0), "held")).isEqualTo(lease.token());
    assertThat(Cluster.ttl(cluster.node(0), "held")).isPositive();

    lease.extend(Cluster.TTL);
    lease.requireHeld();
    cluster.node(1).thaw();
    assertThat(lease.release()).isTrue();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"EXT-5", "EXT-6"})
  void aQuorumThatLostTheKeyLosesTheLeaseAndLeavesNothing() throws InterruptedException {
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
    restartEmpty(cluster.node(0));
    restartEmpty(cluster.node(1));

    LockLostException lost =
        catchThrowableOfType(LockLostException.class, () -> lease.extend(Cluster.TTL));

    assertThat(lost.reason()).isEqualTo(LossReason.REMOVED);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"KEEP-1", "EXT-7"})
  void aLeaseIsKeptAliveWhileItsNodesRestartEmptyOneByOne() throws InterruptedException {
    Lease lease =
        locks.tryAcquire(LockRequest.of("long", RENEWED).keepAliveUpTo(HOUR)).orElseThrow();
    for (TestNode node : cluster.nodes()) {
      node.restart();
      Eventually.soon().until(() -> lease.token().equals(Cluster.value(node, "long")));
      lease.requireHeld();
    }

    assertThat(lease.lost().toCompletableFuture()).isNotDone();
    assertThat(locks.inspect("long").orElseThrow().agreeing()).isEqualTo(3);
    assertThat(lease.release()).isTrue();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"KEEP-1", "FAULT-1"})
  void aLeaseIsKeptAliveWhileAMinorityHangs() throws InterruptedException {
    Duration ttl = Duration.ofMillis(900);
    Lease lease = locks.tryAcquire(LockRequest.of("long", ttl).keepAliveUpTo(HOUR)).orElseThrow();
    cluster.node(1).freeze();
    long granted = System.nanoTime();

    Eventually.soon().until(() -> System.nanoTime() - granted > 3 * ttl.toNanos());

    lease.requireHeld();
    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule({"EXT-5", "LOSS-4", "REL-1"})
  void overwrittenOnAQuorumItIsTakenAsSoonAsItIsRenewed() throws InterruptedException {
    Lease lease =
        locks.tryAcquire(LockRequest.of("stolen", RENEWED).keepAliveUpTo(HOUR)).orElseThrow();
    List<TestNode> overwritten = cluster.nodes().subList(0, 2);
    overwritten.forEach(node -> Cluster.occupy(node, "stolen"));

    assertThat(lossOf(lease)).isEqualTo(LossReason.TAKEN);
    assertThat(lease.release()).isFalse();
    assertThat(overwritten).allSatisfy(node -> Fault.OCCUPIED.assertUntouched(node, "stolen"));
    Eventually.soon().until(() -> Cluster.value(cluster.node(2), "stolen") == null);
  }

  @Test
  @Rule({"EXT-5", "LOSS-2", "REL-3"})
  void overwrittenOnAQuorumItIsTakenForWhoExtendsOrReleasesIt() throws InterruptedException {
    Lease extended = locks.tryAcquire("extended", Cluster.TTL).orElseThrow();
    Lease released = locks.tryAcquire("released", Cluster.TTL).orElseThrow();
    cluster
        .nodes()
        .subList(0, 2)
        .forEach(
            node -> {
              Cluster.occupy(node, "extended");
              Cluster.occupy(node, "released");
            });

    assertThatThrownBy(() -> extended.extend(Cluster.TTL))
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.TAKEN));
    assertThat(lossOf(extended)).isEqualTo(LossReason.TAKEN);
    assertThat(released.release()).isFalse();
    assertThat(released.lost().toCompletableFuture()).isNotDone();
  }

  @Test
  @Rule({"EXT-1", "REL-1"})
  void overwrittenOnAMinorityItIsKept() throws InterruptedException {
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();
    Cluster.occupy(cluster.node(0), "held");

    lease.extend(Cluster.TTL);

    assertThat(lease.release()).isTrue();
    Fault.OCCUPIED.assertUntouched(cluster.node(0), "held");
  }

  @Test
  @Rule({"EXT-5", "EXT-6", "LOSS-4"})
  void flushedOnAllNodesItIsRemoved() throws InterruptedException {
    Lease lease =
        locks.tryAcquire(LockRequest.of("flushed", RENEWED).keepAliveUpTo(HOUR)).orElseThrow();
    cluster.nodes().forEach(node -> node.command("FLUSHALL"));

    assertThat(lossOf(lease)).isEqualTo(LossReason.REMOVED);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"EXT-4", "LOSS-4"})
  void withoutAQuorumThatAnswersItIsUnreachableWhenItsTimeIsOver() throws InterruptedException {
    Lease lease =
        locks.tryAcquire(LockRequest.of("cut off", RENEWED).keepAliveUpTo(HOUR)).orElseThrow();
    CompletableFuture<LossReason> lost = lease.lost().toCompletableFuture();
    cluster.nodes().subList(0, 2).forEach(TestNode::freeze);
    Duration left = lease.remaining();
    long frozen = System.nanoTime();

    Eventually.soon().until(lost::isDone);

    assertThat(lost.join()).isEqualTo(LossReason.UNREACHABLE);
    // one renewal may have been under way when they froze
    assertThat(Duration.ofNanos(System.nanoTime() - frozen))
        .isGreaterThanOrEqualTo(left)
        .isLessThan(RENEWED.plusSeconds(1));
    assertThat(lease.remaining()).isZero();
    cluster.nodes().subList(0, 2).forEach(TestNode::thaw);
    cluster.awaitNoLocks();
  }

  private static LossReason lossOf(Lease lease) {
    CompletableFuture<LossReason> lost = lease.lost().toCompletableFuture();
    Eventually.soon().until(lost::isDone);
    assertThat(lease.isHeld()).isFalse();
    return lost.join();
  }

  /** Restarts a node without data, and waits until it votes again. */
  private void restartEmpty(TestNode node) {
    node.restart();
    Cluster.awaitVoteOf(node, locks);
  }
}
