package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long a lease lasts, what it says of that, and how its holder hears of its end. */
@ForEachBackend
class LossTest {
  private static final Duration SHORT = Duration.ofMillis(500);

  private final Cluster cluster;
  private final LockManager locks;

  LossTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open("nodeTimeout=100ms");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"VAL-1", "VAL-3"})
  void whatRemainsIsLessThanTheTtlAndCountsDown() throws InterruptedException {
    Lease lease = locks.tryAcquire("held", Cluster.TTL).orElseThrow();

    Duration first = lease.remaining();
    assertThat(first).isBetween(Cluster.TTL.minusSeconds(5), Cluster.TTL);
    Eventually.soon().until(() -> lease.remaining().compareTo(first.minusMillis(20)) < 0);
    assertThat(lease.release()).isTrue();
    assertThat(lease.remaining()).isZero();
  }

  @Test
  @Rule({"LOSS-1", "LOSS-3", "LOSS-4", "REL-3", "REL-5"})
  void aLeaseThatNobodyRenewsExpires() throws InterruptedException {
    long start = System.nanoTime();
    Lease lease = locks.tryAcquire("short", SHORT).orElseThrow();

    assertThat(lossOf(lease)).isEqualTo(LossReason.EXPIRED);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(SHORT.minus(SHORT.dividedBy(20)), SHORT.plusSeconds(1));
    assertThat(lease.remaining()).isZero();
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
    assertThat(lease.release()).isFalse();
    assertThat(lease.release()).isFalse();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"REL-1", "REL-3", "ACQ-10"})
  void aLateReleaseSparesTheNextOwner() throws InterruptedException {
    Lease first = locks.tryAcquire("short", SHORT).orElseThrow();
    Lease second =
        cluster
            .open()
            .acquire(LockRequest.of("short", Cluster.TTL).waitAtMost(Duration.ofSeconds(10)));

    assertThat(first.isHeld()).isFalse();
    assertThat(first.release()).isFalse();
    second.requireHeld();
    second.extend(Cluster.TTL);
    assertThat(second.release()).isTrue();
  }

  @Test
  @Rule({"KEEP-1", "KEEP-3", "LOSS-4"})
  void aLeaseIsKeptAliveUpToItsLongestHoldAndNoLonger() throws InterruptedException {
    Duration maxHold = SHORT.multipliedBy(4);
    long start = System.nanoTime();
    Lease lease =
        locks.tryAcquire(LockRequest.of("long", SHORT).keepAliveUpTo(maxHold)).orElseThrow();

    assertThat(lossOf(lease)).isEqualTo(LossReason.MAX_HOLD);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(maxHold.minus(SHORT.dividedBy(5)), maxHold.plusMillis(400));
    assertThat(cluster.open().tryAcquire("long", Cluster.TTL)).isPresent();
  }

  @Test
  @Rule({"KEEP-3", "LOSS-2"})
  void aLeaseThatWasReleasedIsRenewedNoMoreAndNeverLost() throws InterruptedException {
    Lease lease =
        locks
            .tryAcquire(LockRequest.of("done", SHORT).keepAliveUpTo(Duration.ofHours(1)))
            .orElseThrow();
    assertThat(lease.release()).isTrue();

    cluster.awaitNoLocks();
    LockManager observer = cluster.open();
    long released = System.nanoTime();
    Eventually.soon()
        .until(
            () -> {
              assertThat(observer.inspect("done")).as("a renewal puts keys back").isEmpty();
              return System.nanoTime() - released > SHORT.toNanos();
            });

    assertThat(lease.lost().toCompletableFuture()).isNotDone();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"INSP-2", "LOSS-4"})
  void aLockThatIsReleasedByForceIsRemovedForItsHolder() throws InterruptedException {
    Lease lease =
        locks
            .tryAcquire(LockRequest.of("forced", SHORT).keepAliveUpTo(Duration.ofHours(1)))
            .orElseThrow();

    assertThat(cluster.open().forceRelease("forced")).isTrue();

    assertThat(lossOf(lease)).isEqualTo(LossReason.REMOVED);
    assertThat(lease.release()).isFalse();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"INSP-2", "REL-3"})
  void aLockThatIsReleasedByForceIsLostForWhoReleasesIt() throws InterruptedException {
    Lease lease = locks.tryAcquire("forced", Cluster.TTL).orElseThrow();

    assertThat(cluster.open().forceRelease("forced")).isTrue();

    assertThat(lease.release()).isFalse();
  }

  @Test
  @Rule("ACQ-13")
  void callLockedInterruptsTheTaskOfALostLeaseAndSaysSo() {
    AtomicBoolean interrupted = new AtomicBoolean();

    LockLostException lost =
        catchThrowableOfType(
            LockLostException.class,
            () ->
                locks.callLocked(
                    LockRequest.of("short", SHORT),
                    lease -> {
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                      return "done";
                    }));

    assertThat(interrupted).isTrue();
    assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  @Rule("ACQ-13")
  void callLockedReturnsWhatTheTaskReturnsAndReleases() throws InterruptedException {
    String result =
        locks.callLocked(LockRequest.of("task", Cluster.TTL), lease -> "by " + lease.name());

    assertThat(result).isEqualTo("by task");
    assertThat(cluster.open().tryAcquire("task", Cluster.TTL)).isPresent();
  }

  @Test
  @Rule("LOSS-5")
  void aCallbackThatBlocksHoldsUpNoOtherLease() throws InterruptedException {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Lease first = locks.tryAcquire("first", SHORT).orElseThrow();
    var callback =
        first
            .lost()
            .thenAccept(
                reason -> {
                  blocked.countDown();
                  awaitUninterruptibly(end);
                });
    Lease second =
        locks
            .tryAcquire(LockRequest.of("second", SHORT).keepAliveUpTo(Duration.ofHours(1)))
            .orElseThrow();
    Lease third = locks.tryAcquire("third", SHORT.multipliedBy(2)).orElseThrow();
    blocked.await();

    assertThat(lossOf(third)).isEqualTo(LossReason.EXPIRED);
    second.requireHeld();
    assertThat(callback.toCompletableFuture()).isNotDone();
    end.countDown();
    callback.toCompletableFuture().join();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static LossReason lossOf(Lease lease) {
    CompletableFuture<LossReason> lost = lease.lost().toCompletableFuture();
    Eventually.soon().until(lost::isDone);
    assertThat(lease.isHeld()).isFalse();
    return lost.join();
  }
}
