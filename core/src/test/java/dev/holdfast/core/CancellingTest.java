package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Cancelling a request at every stage leaves no lock held, and the next waiter is served. */
class CancellingTest {
  private static final Duration RETRY = Duration.ofMillis(100);
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL).waitForever();

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final Deque<Runnable> callbacks = new ArrayDeque<>();
  private final LockManager manager =
      ScriptedBackend.manager(backend, time)
          .retryDelay(RETRY)
          .callbacks(task -> callbacks.add(task))
          .build();

  @AfterEach
  void nothingIsHeldAndNothingIsLeft() throws Exception {
    runCallbacks();
    backend.answerAtOnce(Op.ATTEMPT);
    assertThat(backend.holder("x")).isEmpty();
    assertThat(manager.tryAcquire(LockRequest.of("x", Duration.ofSeconds(1))))
        .as("nobody is left in line")
        .isPresent();
    assertThat(time.pending()).as("the timers of this last lease").hasSize(2);
  }

  @Test
  void cancelledWaiterLeavesTheQueueAndTheNextIsServed() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> given = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(REQUEST);

    given.cancel(true);
    cancelled.cancel(true);
    int attempts = backend.calls(Op.ATTEMPT).size();
    assertThat(held.release()).isTrue();
    runCallbacks();
    assertThat(next.join().orElseThrow().release()).isTrue();
    assertThat(backend.calls(Op.ATTEMPT).size() - attempts).isLessThanOrEqualTo(1);
  }

  @Test
  void cancellingAQueuedWaiterCancelsItsTimer() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> first = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> limited =
        manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(10)));
    int timers = time.pending().size();
    limited.cancel(true);
    assertThat(time.pending()).hasSize(timers - 1);
    first.cancel(true);
    assertThat(held.release()).isTrue();
  }

  @Test
  void lateGrantOfACancelledAttemptIsReleased() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    cancelled.cancel(true);
    assertThat(backend.calls(Op.RELEASE)).isEmpty();

    backend.next().answer();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  void lateGrantOfACancelledAttemptIsReleasedAtOnceDespiteHoldAtLeast() {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST.holdAtLeast(Duration.ofSeconds(30))).cancel(true);
    backend.next().answer();
    assertThat(backend.calls(Op.RELEASE))
        .extracting(ScriptedBackend.Call::time)
        .containsExactly(Duration.ZERO);
  }

  @Test
  void nextWaiterIsServedAfterTheLateGrantIsReleased() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(REQUEST);
    cancelled.cancel(true);
    assertThat(backend.waitingForAnswers()).as("one attempt at a time").isOne();

    backend.next().answer();
    backend.next().answer();
    runCallbacks();
    assertThat(next.join().orElseThrow().release()).isTrue();
  }

  @Test
  void refusalOfACancelledAttemptLetsTheNextWaiterTryAtOnce() {
    backend.holdBack(Op.ATTEMPT);
    backend.giveToAnother("x", Duration.ofMillis(1));
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(REQUEST);
    cancelled.cancel(true);
    backend.next().answer();

    time.advance(Duration.ofMillis(1));
    backend.next().answer();
    runCallbacks();
    assertThat(next.join().orElseThrow().release()).isTrue();
  }

  @Test
  void cancellingABackingOffWaiterLetsTheNextTryAtOnce() {
    backend.giveToAnother("x", Duration.ofMillis(1));
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(REQUEST);
    backend.wipe("x");
    cancelled.cancel(true);
    runCallbacks();
    assertThat(next.join().orElseThrow().release()).isTrue();
    time.assertIdle();
  }

  @Test
  void grantThatIsCancelledBeforeItIsDeliveredIsReleased() {
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(REQUEST);
    assertThat(backend.holder("x")).as("granted, not handed over yet").isPresent();
    assertThat(cancelled).isNotDone();

    cancelled.cancel(true);
    runCallbacks();
    assertThat(cancelled).isCancelled();
    assertThat(next.join().orElseThrow().release()).isTrue();
  }

  @Test
  @Rule("WAIT-9")
  @DisplayName("a grant whose future was cancelled is released though no callback can run")
  void aGrantIsReleasedThoughNoCallbackCanRun() {
    CompletableFuture<Optional<Lease>> cancelled = manager.tryAcquireAsync(REQUEST);
    assertThat(backend.holder("x")).isPresent();

    cancelled.cancel(true);

    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  @Rule("TRANSFER-11")
  @DisplayName(
      "a lock that was transferred or adopted for no caller is free though no callback can run")
  void aTransferredLockIsFreeThoughNoCallbackCanRun() throws Exception {
    manager.acquire(REQUEST).transferAsync(TTL).cancel(true);
    assertThat(backend.holder("x")).as("transferred").isEmpty();

    String text = manager.acquire(REQUEST).transfer(TTL);
    manager.adoptAsync(text, LockRequest.of("x", TTL)).cancel(true);
    assertThat(backend.holder("x")).as("adopted").isEmpty();
  }

  @Test
  void timedOutFutureLeavesTheQueue() {
    backend.giveToAnother("x", Duration.ofHours(1));
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    waiting.completeExceptionally(new TimeoutException("the user's own"));
    assertThat(time.pending()).isEmpty();
    backend.wipe("x");
  }

  @Test
  void externallyCompletedFutureLeavesTheQueue() {
    backend.giveToAnother("x", Duration.ofHours(1));
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    assertThat(waiting.complete(Optional.empty())).isTrue();
    assertThat(time.pending()).isEmpty();
    backend.wipe("x");
  }

  @Test
  void leaseIsReleasedIfItsFutureWasCompletedExternally() {
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    assertThat(backend.holder("x")).isPresent();
    assertThat(waiting.complete(Optional.empty())).isTrue();
    runCallbacks();
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void cancellingADeliveredLeaseChangesNothing() throws Exception {
    CompletableFuture<Optional<Lease>> got = manager.tryAcquireAsync(REQUEST);
    runCallbacks();
    assertThat(got.cancel(true)).isFalse();
    Lease lease = got.get(1, TimeUnit.SECONDS).orElseThrow();
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.release()).isTrue();
  }

  private void runCallbacks() {
    for (Runnable task = callbacks.poll(); task != null; task = callbacks.poll()) {
      task.run();
    }
  }
}
