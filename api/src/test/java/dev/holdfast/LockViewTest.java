package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(20)
@ExtendWith(NothingLeftBehind.class)
@SuppressWarnings("LockNotBeforeTry") // the test is about how lock and unlock may be called
class LockViewTest {
  private static final LockRequest REQUEST =
      LockRequest.of("stock", Duration.ofSeconds(10)).keepAliveUpTo(Duration.ofHours(1));

  private final InMemoryLocks locks = new InMemoryLocks();
  private final Lock lock = Locks.asLock(locks, REQUEST);
  private final ExecutorService other = Executors.newSingleThreadExecutor();

  @AfterEach
  void close() {
    other.shutdownNow();
  }

  @Test
  void aViewNeedsToKnowHowLongItIsKeptAlive() {
    assertThatThrownBy(() -> Locks.asLock(locks, LockRequest.of("stock", Duration.ofSeconds(1))))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("'stock' needs keepAliveUpTo");
  }

  @Test
  void lockHoldsUntilUnlock() {
    lock.lock();
    assertThat(locks.isHeld("stock")).isTrue();

    lock.unlock();
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @Test
  void theSameThreadEntersAgainThroughTheSameView() throws Exception {
    lock.lock();
    lock.lockInterruptibly();
    assertThat(lock.tryLock()).isTrue();
    assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();

    lock.unlock();
    lock.unlock();
    lock.unlock();
    assertThat(locks.isHeld("stock")).isTrue();
    lock.unlock();
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @Test
  void theSameThreadDoesNotEnterThroughAnotherView() {
    lock.lock();

    assertThat(Locks.asLock(locks, REQUEST).tryLock()).isFalse();
  }

  @Test
  void anotherThreadDoesNotEnterThroughTheSameView() throws Exception {
    lock.lock();

    assertThat(other.submit(() -> lock.tryLock()).get()).isFalse();
    assertThat(other.submit(() -> lock.tryLock(1, TimeUnit.MILLISECONDS)).get()).isFalse();
  }

  @Test
  void lockWaitsUntilTheOtherUnlocks() throws Exception {
    lock.lock();
    CompletableFuture<Thread> waiter = new CompletableFuture<>();
    Future<?> entered = other.submit(() -> lockAs(waiter));
    awaitWaiting(waiter.get());

    lock.unlock();

    entered.get();
    assertThat(locks.isHeld("stock")).isTrue();
    assertThat(lock.tryLock()).isFalse();
  }

  @Test
  void waitOfTheRequestIsIgnored() throws Exception {
    Lock impatient = Locks.asLock(locks, REQUEST.waitAtMost(Duration.ZERO));
    Lock patient = Locks.asLock(locks, REQUEST.waitForever());
    lock.lock();
    CompletableFuture<Thread> waiter = new CompletableFuture<>();
    Future<?> entered =
        other.submit(
            () -> {
              waiter.complete(Thread.currentThread());
              impatient.lock();
            });
    awaitWaiting(waiter.get());

    assertThat(patient.tryLock()).isFalse();
    assertThat(patient.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
    lock.unlock();
    entered.get();
  }

  @Test
  void unlockWithoutLockIsRefused() {
    assertThatThrownBy(lock::unlock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessage("this thread does not hold the lock 'stock' through this view");
  }

  @Test
  void unlockByAnotherThreadIsRefused() {
    lock.lock();

    assertThatThrownBy(() -> other.submit(lock::unlock).get())
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IllegalMonitorStateException.class);
    assertThat(locks.isHeld("stock")).isTrue();
  }

  @Test
  void unlockTooOftenIsRefused() {
    lock.lock();
    lock.unlock();

    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @ParameterizedTest
  @EnumSource
  void unlockingALostLockThrowsTheLoss(LossReason reason) {
    lock.lock();
    locks.lose("stock", reason);

    assertThatThrownBy(lock::unlock)
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason));
  }

  @Test
  void lockCanBeAcquiredAgainAfterALoss() {
    lock.lock();
    locks.lose("stock", LossReason.TAKEN);
    assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);

    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
  }

  @Test
  void reentryAfterALossThrowsTheLossAndIsNotCounted() {
    lock.lock();
    locks.lose("stock", LossReason.EXPIRED);

    assertThatThrownBy(lock::lock).isInstanceOf(LockLostException.class);
    assertThatThrownBy(lock::tryLock).isInstanceOf(LockLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void lockWaitsOnWhenInterruptedAndKeepsTheInterrupt() throws Exception {
    lock.lock();
    CompletableFuture<Thread> waiter = new CompletableFuture<>();
    Future<Boolean> interruptSeen =
        other.submit(
            () -> {
              lockAs(waiter);
              return Thread.interrupted();
            });
    awaitWaiting(waiter.get());

    waiter.get().interrupt();
    awaitWaiting(waiter.get());
    assertThat(interruptSeen).isNotDone();
    lock.unlock();

    assertThat(interruptSeen.get()).isTrue();
  }

  @Test
  void tryLockIsNotInterruptedAndKeepsTheInterrupt() {
    Thread.currentThread().interrupt();

    assertThat(lock.tryLock()).isTrue();

    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void lockInterruptiblyAndTimedTryLockAreInterrupted() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);

    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.DAYS))
        .isInstanceOf(InterruptedException.class);
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @Test
  void reentryIsInterruptible() {
    lock.lock();
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);

    lock.unlock();
    assertThat(locks.isHeld("stock")).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void longestTimeoutOfTryLockIsAccepted(TimeUnit unit) throws Exception {
    assertThat(lock.tryLock(Long.MAX_VALUE, unit)).isTrue();
    lock.unlock();
    assertThat(lock.tryLock(Long.MIN_VALUE, unit)).isTrue();
    lock.unlock();
  }

  @Test
  void thereAreNoConditions() {
    assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
  }

  private void lockAs(CompletableFuture<Thread> waiter) {
    waiter.complete(Thread.currentThread());
    lock.lock();
  }

  private static void awaitWaiting(Thread thread) {
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING && !thread.isInterrupted());
  }
}
