package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lease is made to last longer, or is not. */
@ForEachBackend
class ExtendTest {
  private static final Duration SHORT = Duration.ofSeconds(1);

  private final Cluster cluster;
  private final LockManager locks;

  ExtendTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open("nodeTimeout=400ms");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"EXT-1", "VAL-1"})
  void anExtendedLeaseOutlivesItsFirstTtl() throws InterruptedException {
    Lease lease = locks.tryAcquire("long", SHORT).orElseThrow();
    lease.extend(Cluster.TTL);

    assertThat(lease.remaining())
        .isBetween(Cluster.TTL.multipliedBy(98).dividedBy(100).minusSeconds(1), Cluster.TTL);
    long granted = System.nanoTime();
    Eventually.soon().until(() -> System.nanoTime() - granted > SHORT.toNanos());
    lease.requireHeld();
    assertThat(cluster.open().tryAcquire("long", Cluster.TTL)).isEmpty();
    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule("EXT-3")
  void anExtensionNeverShortens() throws InterruptedException {
    Lease lease = locks.tryAcquire("long", Cluster.TTL).orElseThrow();
    Duration before = lease.remaining();

    lease.extend(Duration.ofSeconds(2));

    assertThat(lease.remaining()).isBetween(before.minusSeconds(10), before);
    assertThat(cluster.nodes())
        .allSatisfy(
            node -> assertThat(Cluster.ttl(node, "long")).isGreaterThan(before.minusSeconds(10)));
  }

  @Test
  @Rule("EXT-2")
  void anExtensionNeverRevives() throws InterruptedException {
    Lease lease = locks.tryAcquire("gone", SHORT).orElseThrow();
    Eventually.soon().until(() -> !lease.isHeld());

    LockLostException lost =
        catchThrowableOfType(LockLostException.class, () -> lease.extend(Cluster.TTL));

    assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
    assertThat(lease.isHeld()).isFalse();
    Lease next = locks.acquire("gone", Cluster.TTL); // the keys end a little later than the lease
    assertThatThrownBy(() -> lease.extend(Cluster.TTL)).isInstanceOf(LockLostException.class);
    assertThat(lease.release()).isFalse();
    next.requireHeld();
    assertThat(next.release()).isTrue();
  }

  @Test
  @Rule("EXT-8")
  void anExtensionNeverGoesPastTheLongestHold() throws InterruptedException {
    Duration maxHold = Duration.ofSeconds(5);
    Lease lease =
        locks
            .tryAcquire(LockRequest.of("limited", Duration.ofSeconds(2)).keepAliveUpTo(maxHold))
            .orElseThrow();

    lease.extend(Cluster.TTL);

    assertThat(lease.remaining()).isBetween(Duration.ofSeconds(3), maxHold);
    assertThat(lease.release()).isTrue();
  }

  @Test
  @Rule("EXT-2")
  void aLeaseThatWasReleasedCannotBeExtended() throws InterruptedException {
    Lease lease = locks.tryAcquire("released", Cluster.TTL).orElseThrow();
    assertThat(lease.release()).isTrue();

    assertThatThrownBy(() -> lease.extend(Cluster.TTL)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(lease::requireHeld).isInstanceOf(IllegalStateException.class);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("VAL-6")
  void anExtensionBeyondTheLongestTtlIsRefused() throws InterruptedException {
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();

    assertThatThrownBy(() -> lease.extend(Duration.ofHours(1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("maxTtl");
    lease.requireHeld();
  }

  @Test
  @Rule("EXT-1")
  void anAsynchronousExtensionIsTheSame() throws InterruptedException {
    Lease lease = locks.tryAcquire("long", SHORT).orElseThrow();

    lease.extendAsync(Cluster.TTL).toCompletableFuture().join();

    assertThat(lease.remaining()).isGreaterThan(Cluster.TTL.dividedBy(2));
    assertThat(lease.releaseAsync().toCompletableFuture().join()).isTrue();
  }
}
