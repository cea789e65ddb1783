package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Callers are interrupted, and futures given up, at any moment: no lock is left behind. */
@ForEachBackend
class CancellationTest {
  /** About as long as an attempt takes, so that all of its moments are hit. */
  private static final long MICROS = 1_500;

  private static final int ROUNDS = 150;

  private final Cluster cluster;
  private final LockManager locks;
  private final Seed seed = new Seed();

  CancellationTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"WAIT-7", "ACQ-3"})
  void anInterruptAtAnyMomentLeavesNoLockAndIsNeverSwallowed() throws InterruptedException {
    LockManager other = cluster.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = "round " + round;
      Optional<Lease> held =
          seed.nextBoolean() ? other.tryAcquire(name, Cluster.TTL) : Optional.empty();
      Interrupted caller = new Interrupted(() -> locks.acquire(name, Cluster.TTL));
      caller.start();
      seed.pauseUpTo(MICROS);
      caller.interrupt();
      Eventually.soon()
          .untilAsserted(
              () ->
                  assertThat(caller.endedByInterrupt() || caller.leftInterruptToCaller())
                      .as("%s in %s: %s", seed, name, caller)
                      .isTrue());
      caller.lease().ifPresent(lease -> assertThat(lease.release()).isTrue());
      held.ifPresent(lease -> assertThat(lease.release()).as("%s in %s", seed, name).isTrue());
      assertThat(isFree(name)).as("%s in %s", seed, name).isTrue();
    }
    cluster.awaitNoLocks();
  }

  @UnderLoad
  @Rule({"WAIT-7", "ACQ-3"})
  void anInterruptAtAnyMomentUnderLoad() throws InterruptedException {
    anInterruptAtAnyMomentLeavesNoLockAndIsNeverSwallowed();
  }

  @Test
  @Rule({"WAIT-9", "ACQ-3"})
  void aFutureThatIsCancelledAtAnyMomentLeavesNoLock() throws InterruptedException {
    LockManager other = cluster.open();
    for (int round = 0; round < ROUNDS; round++) {
      String name = "round " + round;
      Optional<Lease> held =
          seed.nextBoolean() ? other.tryAcquire(name, Cluster.TTL) : Optional.empty();
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(LockRequest.of(name, Cluster.TTL).waitForever());
      seed.pauseUpTo(MICROS);

      if (!future.cancel(true)) {
        assertThat(future.join().orElseThrow().release()).as("%s in %s", seed, name).isTrue();
      }
      held.ifPresent(lease -> assertThat(lease.release()).as("%s in %s", seed, name).isTrue());
      assertThat(isFree(name)).as("%s in %s", seed, name).isTrue();
    }
    cluster.awaitNoLocks();
  }

  @UnderLoad
  @Rule({"WAIT-9", "ACQ-3"})
  void aFutureThatIsCancelledUnderLoad() throws InterruptedException {
    aFutureThatIsCancelledAtAnyMomentLeavesNoLock();
  }

  @Test
  @Rule({"WAIT-9", "ACQ-11"})
  void whatNobodyTookIsNotKeptFromOthersHoweverLongItWasToBeHeld() throws InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      String name = "round " + round;
      CompletableFuture<Optional<Lease>> future =
          locks.tryAcquireAsync(LockRequest.of(name, Cluster.TTL).holdAtLeast(Cluster.TTL));
      seed.pauseUpTo(MICROS);

      if (future.cancel(true)) {
        assertThat(isFree(name)).as("%s in %s", seed, name).isTrue();
      }
    }
  }

  @Test
  @Rule("WAIT-9")
  void aFutureThatSomebodyElseCompletesLeavesNoLock() throws InterruptedException {
    Lease held = cluster.open().tryAcquire("busy", Cluster.TTL).orElseThrow();
    CompletableFuture<Optional<Lease>> completed =
        locks.tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever());
    CompletableFuture<Optional<Lease>> timedOut =
        locks
            .tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever())
            .orTimeout(50, TimeUnit.MILLISECONDS);

    assertThat(completed.complete(Optional.empty())).isTrue();
    Eventually.soon().until(timedOut::isCompletedExceptionally);
    assertThat(held.release()).isTrue();

    Eventually.soon().until(() -> isFree("busy"));
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"WAIT-7", "ACQ-6"})
  void whoIsInterruptedBeforehandAsksNobody() throws InterruptedException {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> locks.tryAcquire("never", Cluster.TTL))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();

    assertThat(locks.tryAcquire("never", Cluster.TTL)).isPresent();
  }

  @Test
  @Rule({"REL-3", "EXT-1"})
  void whoIsInterruptedCanStillExtendAndReleaseAndKeepsTheFlag() throws InterruptedException {
    Lease extended = locks.tryAcquire("extended", Cluster.TTL).orElseThrow();
    Lease closed = locks.tryAcquire("closed", Cluster.TTL).orElseThrow();

    Thread.currentThread().interrupt();
    extended.extend(Cluster.TTL);
    boolean released = extended.release();
    closed.close();
    boolean forced = locks.forceRelease("closed");
    boolean flag = Thread.interrupted();

    assertThat(released).isTrue();
    assertThat(forced).isFalse();
    assertThat(flag).isTrue();
    cluster.awaitNoLocks();
  }

  /** Seen by what follows at once, because the release of who gave up was sent before. */
  private boolean isFree(String name) throws InterruptedException {
    Optional<Lease> next =
        locks.tryAcquire(LockRequest.of(name, Cluster.TTL).waitAtMost(Duration.ofSeconds(5)));
    return next.isPresent() && next.get().release();
  }
}
