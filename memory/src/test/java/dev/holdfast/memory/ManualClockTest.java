package dev.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A clock that a test moves, with the timers of the managers on it. */
class ManualClockTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration TICK = Duration.ofNanos(1);

  private final ManualClock clock = new ManualClock();
  @AutoClose private final LockManager locks = MemoryLocks.builder().clock(clock).open();
  private final MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();

  @Test
  void aLeaseIsLostWhenItsTimeHasPassedAndItsHolderIsNotifiedBeforeAdvanceReturns()
      throws Exception {
    Lease lease = locks.acquire("x", TTL);
    List<LossReason> reasons = new ArrayList<>();
    CompletableFuture<Void> notified = lease.onLoss().thenAccept(reasons::add);

    clock.advance(TTL.minus(TICK));
    assertThat(lease.onLoss()).isNotDone();

    clock.advance(TICK);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
    assertThat(notified).isCompleted();
    assertThat(reasons).containsExactly(LossReason.EXPIRED);
  }

  @Test
  void aLeaseThatIsKeptAliveIsRenewedHoweverFarTheClockGoesAtOnce() throws Exception {
    Lease lease = locks.acquire(LockRequest.of("x", TTL).keepAliveUpTo(Duration.ofHours(2)));

    clock.advance(Duration.ofHours(1));
    assertThat(lease.isHeld()).isTrue();

    clock.advance(Duration.ofHours(1));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.MAX_HOLD);
  }

  @Test
  void aTheftIsNoticedByTheNextRenewal() throws Exception {
    Lease lease = locks.acquire(LockRequest.of("x", TTL).keepAliveUpTo(Duration.ofHours(1)));
    store.steal("x", TTL);

    clock.advance(TTL.dividedBy(3).minus(TICK));
    assertThat(lease.onLoss()).isNotDone();
    clock.advance(TICK);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.TAKEN);
  }

  @Test
  void aWaiterTriesAgainWhenTheClockIsMoved() throws Exception {
    store.steal("x", TTL);
    CompletableFuture<Optional<Lease>> waiting =
        locks.tryAcquireAsync(LockRequest.of("x", TTL).waitAtMost(Duration.ofMinutes(1)));
    clock.advance(TTL.minus(TICK));
    assertThat(waiting).isNotDone();

    clock.advance(Duration.ofMillis(10));
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void waitEndsByTheManualClock() throws Exception {
    store.steal("x", Duration.ofHours(1));
    CompletableFuture<Optional<Lease>> waiting =
        locks.tryAcquireAsync(LockRequest.of("x", TTL).waitAtMost(Duration.ofMinutes(1)));

    clock.advance(Duration.ofMinutes(1));
    assertThat(waiting).isCompletedWithValue(Optional.empty());
  }

  @Test
  void workUnderALockIsInterruptedWhenTheClockTakesTheLease() throws Exception {
    CountDownLatch working = new CountDownLatch(1);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Thread worker =
        new Thread(
            () -> {
              try {
                locks.executeLocked(
                    LockRequest.of("x", TTL),
                    lease -> {
                      working.countDown();
                      return new CountDownLatch(1).await(1, TimeUnit.MINUTES);
                    });
              } catch (Throwable e) {
                failure.complete(e);
              }
            });
    worker.start();
    assertThat(working.await(10, TimeUnit.SECONDS)).isTrue();

    clock.advance(TTL);
    assertThat(failure.get(10, TimeUnit.SECONDS))
        .isInstanceOf(LockLostException.class)
        .hasCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void aMachineThatSleptNoticesItsLossWithinHalfASecond() throws Exception {
    Lease lease = locks.acquire("x", TTL);
    clock.moveWallClock(TTL);
    assertThat(lease.onLoss()).isNotDone();

    clock.advance(Duration.ofMillis(500));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void aRunningClockGoesByItselfAndCanBeMovedAhead() throws Exception {
    ManualClock running = ManualClock.running();
    try (LockManager manager = MemoryLocks.builder().clock(running).open()) {
      Lease shortLease = manager.acquire("x", Duration.ofMillis(50));
      assertThat(shortLease.onLoss().get(10, TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
      MemoryStore itsStore = manager.unwrap(MemoryStore.class).orElseThrow();
      itsStore.steal("x", Duration.ofMinutes(5));
      LockRequest brief = LockRequest.of("x", TTL).waitAtMost(Duration.ofMillis(50));
      assertThat(manager.tryAcquire(brief)).isEmpty();

      CompletableFuture<Optional<Lease>> waiting =
          manager.tryAcquireAsync(brief.waitAtMost(Duration.ofHours(1)));
      running.advance(Duration.ofMinutes(5));
      Lease lease = waiting.get(10, TimeUnit.SECONDS).orElseThrow();
      running.advance(TTL.minusSeconds(10));
      assertThat(lease.isHeld()).isTrue();
      running.advance(Duration.ofSeconds(10));
      assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
    }
  }

  @Test
  void managersOfOneStoreShareItsClock() throws Exception {
    try (LockManager other = MemoryLocks.builder().store(store).open()) {
      assertThat(other.unwrap(ManualClock.class)).containsSame(clock);
      Lease lease = other.acquire("x", TTL);
      clock.advance(TTL);
      assertThat(lease.onLoss()).isDone();
    }
    try (LockManager onTheMachinesClock = MemoryLocks.builder().open()) {
      assertThat(onTheMachinesClock.unwrap(ManualClock.class)).isEmpty();
    }
  }

  @Test
  void aCallbackThatBlocksIsWaitedForOnce() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Lease first = locks.acquire("x", TTL);
    CompletableFuture<Boolean> blocked =
        first.onLoss().thenApply(reason -> awaitUninterrupted(end));

    clock.advance(TTL);
    assertThat(first.onLoss()).isDone();
    assertThat(blocked).isNotDone();

    long begun = System.nanoTime();
    Lease second = locks.acquire("x", TTL);
    clock.advance(TTL);
    assertThat(second.onLoss()).isDone();
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));

    end.countDown();
    assertThat(blocked.get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void callbackThatThrowsStopsNoOther() throws Exception {
    Lease lease = locks.acquire("x", TTL);
    CompletableFuture<Void> failing =
        lease
            .onLoss()
            .thenAccept(
                reason -> {
                  throw new IllegalStateException("of the test");
                });
    CompletableFuture<Void> other = lease.onLoss().thenAccept(reason -> {});

    clock.advance(TTL);
    assertThat(failing).isCompletedExceptionally();
    assertThat(other).isCompleted();
  }

  @Test
  void aCallbackCannotMoveTheClock() throws Exception {
    Lease lease = locks.acquire("x", TTL);
    AtomicReference<Throwable> refusal = new AtomicReference<>();
    CompletableFuture<Void> callback =
        lease.onLoss().thenAccept(reason -> refusal.set(failureOf(() -> clock.advance(TTL))));

    clock.advance(TTL);
    assertThat(callback).isCompleted();
    assertThat(refusal.get())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("move it on the thread of the test");
  }

  @Test
  void threadsThatMoveTheClockTogetherMoveItByTheSumOfTheirTimes() throws Exception {
    long begun = clock.nanos();
    long wall = clock.wallMicros();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int k = 0; k < 100; k++) {
                  clock.advance(Duration.ofMillis(1));
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join(30_000);
    }
    assertThat(clock.nanos() - begun).isEqualTo(800_000_000);
    assertThat(clock.wallMicros() - wall).isEqualTo(800_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-0.000000001S", "PT8760H0.000000001S", "PT2562047788015215H"})
  void aTimeThatIsOutOfRangeIsRefused(String time) {
    long before = clock.nanos();
    assertThatThrownBy(() -> clock.advance(Duration.parse(time)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(Duration.parse(time).toString());
    assertThat(clock.nanos()).isEqualTo(before);
  }

  private static Throwable failureOf(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      return e;
    }
    throw new AssertionError("nothing was thrown");
  }

  private static boolean awaitUninterrupted(CountDownLatch latch) {
    try {
      return latch.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aListenerThatBlocksDelaysNoManagerOnAnotherRunningClock() throws Exception {
    CountDownLatch blocks = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    try (LockManager blocked = MemoryLocks.builder().clock(ManualClock.running()).open();
        LockManager other = MemoryLocks.builder().clock(ManualClock.running()).open()) {
      blocked.addListener(
          new LockListener() {
            @Override
            public void onLost(String name, long leaseId, LossReason reason, long heldNanos) {
              blocks.countDown();
              awaitUninterruptibly(end);
            }
          });
      Lease lost = blocked.acquire("x", Duration.ofMillis(50));
      assertThat(blocks.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(lost.isHeld()).isFalse();

      Lease lease = other.acquire("x", Duration.ofMillis(50));

      assertThat(lease.onLoss().toCompletableFuture().get(10, TimeUnit.SECONDS))
          .isEqualTo(LossReason.EXPIRED);
      end.countDown();
    } finally {
      end.countDown();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
