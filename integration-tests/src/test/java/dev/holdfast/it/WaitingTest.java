package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Somebody else holds the lock, and others wait for it. */
@ForEachBackend
class WaitingTest {
  private static final Duration WAIT = Duration.ofMillis(300);

  private final Cluster cluster;
  private final LockManager holder;
  private final LockManager locks;

  WaitingTest(Backend backend) {
    cluster = Cluster.of(backend);
    holder = cluster.open();
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"WAIT-1", "WAIT-2"})
  void whoeverWaitsInVainHearsOfItWhenTheWaitIsOver() throws InterruptedException {
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();

    long start = System.nanoTime();
    LockUnavailableException contended =
        catchThrowableOfType(
            LockUnavailableException.class,
            () -> locks.acquire(LockRequest.of("busy", Cluster.TTL).waitAtMost(WAIT)));
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertThat(took).isBetween(WAIT, WAIT.plusMillis(500));
    assertThat(contended.waited()).isBetween(WAIT, took);
    assertThat(contended.refused()).isPositive();
    assertThat(contended).hasMessageContaining("'busy'");

    start = System.nanoTime();
    assertThat(locks.tryAcquire(LockRequest.of("busy", Cluster.TTL).waitAtMost(WAIT))).isEmpty();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(WAIT, WAIT.plusMillis(500));
    assertThat(held.release()).isTrue();
    cluster.awaitNoLocks();
  }

  @Test
  @Rule({"ACQ-6", "ACQ-8"})
  void anAttemptWithoutAWaitIsEmptyAtOnceWhoeverHolds() throws InterruptedException {
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();

    assertThat(holder.tryAcquire("busy", Cluster.TTL)).isEmpty();
    assertThat(locks.tryAcquire("busy", Cluster.TTL)).isEmpty();
    assertThat(locks.tryAcquire("busy ", Cluster.TTL)).isPresent();
    assertThat(locks.tryAcquire("BUSY", Cluster.TTL)).isPresent();
    held.requireHeld();
  }

  @Test
  @Rule({"WAIT-5", "REL-8"})
  void aWaiterGetsTheLockWhenItIsReleased() throws InterruptedException {
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever());
    assertThat(waiter).isNotDone();

    assertThat(held.release()).isTrue();

    Eventually.within(Duration.ofSeconds(2)).until(waiter::isDone);
    assertThat(waiter.join().orElseThrow().isHeld()).isTrue();
  }

  @Test
  @Rule("WAIT-3")
  void waitersOfOneManagerAreServedInTheOrderInWhichTheyCame() throws InterruptedException {
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();
    List<Integer> served = new CopyOnWriteArrayList<>();
    List<Thread> waiters = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      int number = i;
      Thread waiter =
          new Thread(
              () -> {
                try (Lease lease = locks.acquire("busy", Cluster.TTL)) {
                  lease.requireHeld();
                  served.add(number);
                } catch (InterruptedException e) {
                  served.add(-1);
                }
              });
      waiters.add(waiter);
      waiter.start();
      Eventually.soon().until(() -> waiter.getState() == Thread.State.WAITING);
    }

    assertThat(held.release()).isTrue();

    Eventually.soon().until(() -> waiters.stream().noneMatch(Thread::isAlive));
    assertThat(served).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("WAIT-8")
  void nobodyOvertakesThoseWhoWaitThoughTheLockIsFree() throws InterruptedException {
    LockManager patient = cluster.open("retryDelay=60s");
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        patient.tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever());
    Eventually.soon().until(() -> firstInLineWasRefused(patient));

    assertThat(held.release()).isTrue();
    Eventually.soon().until(() -> holder.inspect("busy").isEmpty());
    assertThat(patient.tryAcquire("busy", Cluster.TTL)).isEmpty();
    assertThat(waiter).as("it pauses, and the lock is free").isNotDone();

    assertThat(waiter.cancel(true)).isTrue();
    assertThat(patient.tryAcquire("busy", Cluster.TTL)).isPresent();
  }

  @Test
  @Rule({"WAIT-7", "WAIT-5"})
  void aWaiterThatIsInterruptedLeavesTheLineAndDisturbsNobody() throws InterruptedException {
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();
    List<Interrupted> waiters = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Interrupted waiter = new Interrupted(() -> locks.acquire("busy", Cluster.TTL));
      waiter.start();
      waiters.add(waiter);
      Eventually.soon().until(waiter::isWaiting);
    }
    for (int i : new int[] {0, 3, 5}) {
      waiters.get(i).interrupt();
      Eventually.soon().until(waiters.get(i)::isOver);
      assertThat(waiters.get(i).endedByInterrupt()).isTrue();
    }
    assertThat(waiters).filteredOn(Interrupted::isOver).hasSize(3);

    assertThat(held.release()).isTrue();
    for (int i : new int[] {1, 2, 4}) {
      Eventually.soon().until(waiters.get(i)::isOver);
      assertThat(waiters.get(i).lease().orElseThrow().release()).isTrue();
    }
    cluster.awaitNoLocks();
  }

  @Test
  @Rule("WAIT-5")
  void namesDoNotWaitForEachOther() throws InterruptedException {
    Lease held = holder.tryAcquire("busy", Cluster.TTL).orElseThrow();
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever());

    try (Lease other = locks.acquire("free", Cluster.TTL)) {
      other.requireHeld();
    }

    assertThat(waiter).isNotDone();
    held.requireHeld();
  }

  /** Whoever comes after the first in line is told what that one's attempt saw. */
  private static boolean firstInLineWasRefused(LockManager locks) {
    LockUnavailableException behind =
        catchThrowableOfType(
            LockUnavailableException.class,
            () -> locks.acquire(LockRequest.of("busy", Cluster.TTL).waitAtMost(Duration.ZERO)));
    return behind.refused() > 0;
  }
}
