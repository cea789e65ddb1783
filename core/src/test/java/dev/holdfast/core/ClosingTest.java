package dev.holdfast.core;

import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ClosingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @AfterEach
  void theBackendIsClosedOnceAndNotUsedAfterwards() {
    assertThat(backend.closed()).isOne();
    assertThat(backend.callsAfterClose()).isZero();
  }

  @Test
  void closingEndsLeasesAndLeavesTheirKeysToExpire() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    manager.close();
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.CLOSED);
    assertThat(lease.release()).isFalse();
    assertThat(backend.holder("x")).as("nobody else gets in").contains(lease.token());
    assertThat(backend.calls(Op.RELEASE)).isEmpty();
    time.assertIdle();
  }

  @Test
  void aClosedManagerGrantsNothing() {
    manager.close();
    assertClosed(() -> manager.tryAcquire(REQUEST));
    assertClosed(() -> manager.acquire(REQUEST));
    assertClosed(() -> manager.inspect("x"));
    assertClosed(() -> manager.forceRelease("x"));
    assertThat(failureOf(manager.tryAcquireAsync(REQUEST)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(backend.calls()).isEmpty();
  }

  @Test
  void closingAgainDoesNothing() {
    manager.close();
    manager.close();
    manager.close(GRACE);
  }

  @Test
  void closingFailsAllWaitersAndStartsNoAttempt() throws Exception {
    backend.giveToAnother("x", TTL);
    List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      waiting.add(manager.tryAcquireAsync(REQUEST.waitForever()));
    }
    Background<Lease> blocked = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    int attempts = backend.calls(Op.ATTEMPT).size();
    manager.close();

    assertThat(waiting)
        .allSatisfy(
            future -> assertThat(failureOf(future)).isInstanceOf(IllegalStateException.class));
    assertThat(blocked.failure())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(attempts);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void closingDoesNotGrantTheLocksItEndsToWaiters() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST.waitForever());
    manager.close();
    assertThat(waiting).isCompletedExceptionally();
    assertThat(backend.holder("x")).contains(lease.token());
  }

  @Test
  void attemptInFlightFailsAtOnceAndItsLateGrantIsReleasedBeforeTheBackendCloses()
      throws Exception {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    Background<Boolean> closing = close(Duration.ZERO).awaitBlocked();
    assertThat(waiting).isCompletedExceptionally();
    assertThat(backend.closed()).isZero();

    backend.next().answer();
    closing.result();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void closingWaitsAtMostFiveSecondsForUnansweredOperations() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST);
    Background<Boolean> closing = close(Duration.ZERO).awaitBlocked();
    time.advance(Duration.ofSeconds(5).minusNanos(1));
    assertThat(backend.closed()).isZero();
    time.advance(Duration.ofNanos(1));
    closing.result();
    assertThat(backend.closed()).isOne();
  }

  @Test
  void lostLeaseIsReleasedBeforeTheBackendCloses() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.passUnnoticed(TTL);
    assertThat(lease.isHeld()).as("seen, while the thread that gives it back is busy").isFalse();
    Background<Boolean> closing = close(Duration.ZERO).awaitBlocked();
    assertThat(backend.closed()).isZero();

    time.advance(Duration.ZERO);
    closing.result();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  void closingReturnsWhenTheLastHolderReleasesDuringTheGrace() throws Exception {
    Lease first = manager.acquire(REQUEST);
    Lease second = manager.acquire(LockRequest.of("y", TTL));
    Background<Boolean> closing = close(GRACE).awaitBlocked();
    assertClosed(() -> manager.tryAcquire(LockRequest.of("z", TTL)));

    assertThat(first.release()).isTrue();
    assertThat(second.isHeld()).isTrue();
    second.extend(TTL);
    assertThat(closing.isDone()).isFalse();
    assertThat(second.release()).isTrue();
    closing.result();
    assertThat(backend.holder("x")).isEmpty();
    assertThat(backend.holder("y")).isEmpty();
  }

  @Test
  void leasesAreRenewedDuringTheGrace() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    Background<Boolean> closing = close(GRACE.multipliedBy(2)).awaitBlocked();
    time.advance(GRACE);
    assertThat(backend.calls(Op.EXTEND)).hasSize(1);
    assertThat(lease.release()).isTrue();
    closing.result();
  }

  @Test
  void leasesHeldAtTheEndOfTheGraceAreLost() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    Background<Boolean> closing = close(GRACE).awaitBlocked();
    time.advance(GRACE.minusNanos(1));
    assertThat(lease.isHeld()).isTrue();
    assertThat(closing.isDone()).isFalse();
    time.advance(Duration.ofNanos(1));
    closing.result();
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.CLOSED);
    assertThat(backend.holder("x")).contains(lease.token());
  }

  @Test
  void waitersFailAtTheBeginningOfTheGrace() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST.waitForever());
    int attempts = backend.calls(Op.ATTEMPT).size();
    Background<Boolean> closing = close(GRACE).awaitBlocked();
    assertThat(waiting).isCompletedExceptionally();
    assertThat(lease.release()).isTrue();
    closing.result();
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(attempts);
  }

  @Test
  void graceDoesNotWaitForACancelledGrant() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> attempt = manager.tryAcquireAsync(REQUEST);
    assertThat(attempt.cancel(true)).isTrue();
    backend.next().answer();
    assertThat(backend.holder("x")).isEmpty();

    assertThat(close(GRACE).result()).isTrue();
  }

  @Test
  void releaseInFlightIsAwaitedBeforeTheBackendCloses() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> release = lease.releaseAsync();
    Background<Boolean> closing = close(Duration.ZERO).awaitBlocked();
    assertThat(backend.closed()).isZero();
    backend.next().answer();
    closing.result();
    assertThat(release).isCompletedWithValue(true);
  }

  @Test
  void anInterruptEndsTheGraceAndIsKept() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    Background<Boolean> closing = close(GRACE).awaitBlocked();
    closing.interrupt();
    closing.result();
    assertThat(closing.interruptedAtEnd()).isTrue();
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.CLOSED);
  }

  @Test
  void interruptEndsTheGraceButOperationsInFlightAreAwaited() throws Exception {
    Lease held = manager.acquire(LockRequest.of("y", TTL));
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST);
    Background<Boolean> closing =
        Background.run(
                () -> {
                  Thread.currentThread().interrupt();
                  manager.close(GRACE);
                  return true;
                })
            .awaitBlocked();
    assertThat(held.onLoss()).isCompletedWithValue(LossReason.CLOSED);
    assertThat(backend.closed()).isZero();

    backend.next().answer();
    closing.result();
    assertThat(closing.interruptedAtEnd()).isTrue();
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void closingWithoutAGraceEndsTheGraceOfAnotherThread() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    Background<Boolean> closing = close(GRACE).awaitBlocked();
    manager.close(GRACE);
    assertThat(lease.isHeld()).as("another grace ends nothing").isTrue();

    manager.close();
    closing.result();
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.CLOSED);
    assertThat(backend.holder("x")).contains(lease.token());
  }

  @Test
  void closedSchedulerDoesNotProlongTheGrace() throws Exception {
    Scheduler closed = Scheduler.create("closed");
    closed.close();
    LockManager late =
        LockManagerBuilder.over(backend)
            .clock(time)
            .scheduler(closed)
            .callbacks(Runnable::run)
            .build();
    Lease lease = late.acquire(REQUEST);
    Background.run(
            () -> {
              late.close(Duration.ofMillis(20));
              return true;
            })
        .result();
    assertThat(lease.onLoss()).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(LossReason.CLOSED);
  }

  @Test
  void givenSchedulerIsNotClosedWithTheManager() {
    manager.close();
    List<Integer> ran = new ArrayList<>();
    time.schedule(1, () -> ran.add(1));
    time.advance(Duration.ofNanos(1));
    assertThat(ran).containsExactly(1);
  }

  private Background<Boolean> close(Duration grace) {
    return Background.run(
        () -> {
          manager.close(grace);
          return true;
        });
  }

  private static void assertClosed(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a backend that throws as it closes leaves no thread of the manager")
  void aBackendThatThrowsAsItClosesLeavesNoThread() {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    manager.close();
    ScriptedBackend broken = new ScriptedBackend(time);
    broken.failingToClose(new IllegalStateException("the driver is broken"));
    LockManager own = LockManagerBuilder.over(broken).build();

    assertThatThrownBy(own::close).hasMessage("the driver is broken");

    Eventually.soon()
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> !before.contains(thread))
                    .filteredOn(thread -> thread.getName().startsWith("holdfast"))
                    .isEmpty());
  }
}
