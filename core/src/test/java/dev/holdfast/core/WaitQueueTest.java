package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Waiters of one manager for one lock. */
class WaitQueueTest {
  private static final Duration RETRY = Duration.ofMillis(100);
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(60));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).retryDelay(RETRY).build();

  @Test
  void aHundredWaitersAreServedInOrderOfArrival() throws Exception {
    Lease held = manager.acquire(REQUEST);
    List<Integer> served = new ArrayList<>();
    List<CompletableFuture<?>> done = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      int number = i;
      done.add(
          manager
              .tryAcquireAsync(REQUEST.waitForever())
              .thenCompose(
                  lease -> {
                    served.add(number);
                    return lease.orElseThrow().releaseAsync();
                  }));
    }
    assertThat(served).isEmpty();

    held.close();
    time.advance(RETRY.multipliedBy(200));
    assertThat(done).allMatch(CompletableFuture::isDone);
    assertThat(served).isEqualTo(IntStream.range(0, 100).boxed().toList());
  }

  @Test
  void aHundredWaitersMakeAsManyAttemptsAsOne() {
    backend.giveToAnother("x", Duration.ofHours(1));
    waiters(100);
    time.advance(Duration.ofSeconds(10));

    assertThat(backend.calls(Op.ATTEMPT)).hasSizeBetween(101, 201);
  }

  @Test
  void atMostOneAttemptPerNameIsInFlight() {
    backend.holdBack(Op.ATTEMPT);
    waiters(5);
    for (int i = 0; i < 10; i++) {
      assertThat(backend.waitingForAnswers()).isOne();
      time.advance(RETRY);
      backend.next().answer();
      time.advance(RETRY);
    }
  }

  @Test
  void waitersOfOtherNamesAreNotBlocked() {
    backend.giveToAnother("x", Duration.ofHours(1));
    waiters(3);
    assertThat(manager.tryAcquireAsync(LockRequest.of("y", Duration.ofSeconds(1))))
        .isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void tryAcquireBehindWaitersIsEmptyAtOnceAndSendsNothing() throws Exception {
    backend.holdBack(Op.ATTEMPT);
    waiters(1);
    assertThat(manager.tryAcquire(REQUEST)).isEmpty();
    assertThat(manager.tryAcquireAsync(REQUEST)).isCompletedWithValue(Optional.empty());
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(1);
  }

  @Test
  void releaseWakesTheFirstWaiterAtOnce() throws Exception {
    Lease held = manager.acquire(REQUEST);
    List<CompletableFuture<Optional<Lease>>> waiting = waiters(2);

    assertThat(held.release()).isTrue();
    assertThat(waiting.get(0)).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(waiting.get(1)).isNotDone();

    assertThat(lease(waiting.get(0)).release()).isTrue();
    assertThat(waiting.get(1)).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-12")
  @DisplayName("a waiter backs off first if its own manager holds the lock")
  void waiterBacksOffFirstIfItsOwnManagerHoldsTheLock() throws Exception {
    manager.acquire(REQUEST);
    waiters(1);
    time.advance(RETRY.dividedBy(2).minusNanos(1));
    assertThat(backend.calls(Op.ATTEMPT)).as("that of the holder").hasSize(1);
    time.advance(RETRY.dividedBy(2).plusNanos(1));
    assertThat(backend.calls(Op.ATTEMPT)).as("the key may have been removed").hasSize(2);
  }

  @Test
  @Rule("WAIT-12")
  @DisplayName("two alternating holders make one attempt per grant")
  void twoAlternatingHoldersMakeOneAttemptPerGrant() throws Exception {
    backend.others(0);
    Lease held = manager.acquire(REQUEST);
    for (int turn = 0; turn < 20; turn++) {
      CompletableFuture<Optional<Lease>> next = waiters(1).get(0);
      held.close();
      held = lease(next);
    }
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(21);
    assertThat(backend.watched()).isEmpty();
  }

  @Test
  @Rule("ACQ-6")
  @DisplayName("a request without a wait tries at once, whichever owner holds the lock")
  void requestWithoutAWaitTriesAtOnce() throws Exception {
    manager.acquire(REQUEST);
    assertThat(manager.tryAcquire(REQUEST)).isEmpty();
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(2);
  }

  @Test
  @Rule("WAIT-12")
  @DisplayName("a wait that is shorter than the back-off tries at once")
  void waitShorterThanTheRetryDelayTriesAtOnce() throws Exception {
    manager.acquire(REQUEST);
    LockRequest brief = REQUEST.waitAtMost(RETRY);
    CompletableFuture<Optional<Lease>> refused = manager.tryAcquireAsync(brief);
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(2);
    time.advance(RETRY);
    assertThat(refused).isCompletedWithValue(Optional.empty());

    backend.wipe("x");
    assertThat(manager.tryAcquireAsync(brief))
        .as("its keys were removed")
        .isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a waiter that comes after a forced release of its manager tries at once")
  void waiterAfterAForcedReleaseTriesAtOnce() throws Exception {
    manager.acquire(REQUEST);
    manager.forceRelease("x");

    assertThat(waiters(1).get(0)).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-5")
  @DisplayName("a waiter behind an expired lease tries at once")
  void waiterBehindAnExpiredLeaseTriesAtOnce() throws Exception {
    manager.acquire(REQUEST);
    time.passUnnoticed(REQUEST.ttl());

    assertThat(waiters(1).get(0)).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-5")
  @DisplayName("a release while a waiter starts is not missed, at whichever reading of the clock")
  void aReleaseWhileAWaiterStartsIsNotMissed() throws Exception {
    for (int reading = 0; reading < 20; reading++) {
      InterruptingClock clock = new InterruptingClock();
      LockManager started =
          ScriptedBackend.manager(backend, time).clock(clock).retryDelay(RETRY).build();
      Lease held = started.acquire(REQUEST);

      clock.runAt(reading, held::releaseAsync);
      CompletableFuture<Optional<Lease>> waiter =
          started.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofMinutes(1)));
      clock.run();

      assertThat(waiter)
          .as("a release at reading %d", reading)
          .isCompletedWithValueMatching(Optional::isPresent);
      waiter.join().orElseThrow().close();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-8")
  @DisplayName("a forced release forgets no lease that its manager is granted meanwhile")
  void aForcedReleaseForgetsNoNewerLease() throws Exception {
    backend.holdBack(Op.FORCE_RELEASE);
    Background<?> removal = Background.run(() -> manager.forceRelease("x")).awaitBlocked();
    ScriptedBackend.Unanswered forced = backend.next();
    forced.takeEffect();
    manager.acquire(REQUEST);
    forced.answer();
    removal.result();

    assertThatThrownBy(() -> manager.acquire(REQUEST.waitAtMost(Duration.ZERO)))
        .isInstanceOfSatisfying(
            LockContendedException.class, e -> assertThat(e.isHeldByThisManager()).isTrue());
  }

  /** Runs a task once, as another thread might, when it is read for the nth time. */
  private final class InterruptingClock implements Clock {
    private Runnable task = () -> {};
    private int left = Integer.MAX_VALUE;

    void runAt(int reading, Runnable once) {
      task = once;
      left = reading;
    }

    /** Runs the task if it has not run yet. */
    void run() {
      Runnable due = task;
      task = () -> {};
      due.run();
    }

    @Override
    public long nanos() {
      if (left-- == 0) {
        run();
      }
      return time.nanos();
    }

    @Override
    public long wallMicros() {
      return time.wallMicros();
    }
  }

  @Test
  void nextWaiterBacksOffAfterAGrant() throws Exception {
    backend.giveToAnother("x", Duration.ofHours(1));
    List<CompletableFuture<Optional<Lease>>> waiting = waiters(2);
    backend.wipe("x");
    time.advance(time.pending().get(0));
    assertThat(waiting.get(0)).isDone();

    time.advance(RETRY.dividedBy(2).minusNanos(1));
    assertThat(backend.calls(Op.ATTEMPT)).as("both are the first one's").hasSize(2);
    time.advance(RETRY.dividedBy(2).plusNanos(1));
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(3);
  }

  @Test
  void releaseDuringAnAttemptStartsAnotherAttemptAtOnce() throws Exception {
    Lease held = manager.acquire(REQUEST);
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> waiting = waiters(1).get(0);
    time.advance(RETRY);
    ScriptedBackend.Unanswered attempt = backend.next();

    assertThat(held.release()).isTrue();
    backend.giveToAnother("x", Duration.ofMillis(1));
    attempt.answer();
    assertThat(backend.waitingForAnswers()).as("it was refused and tries again").isOne();

    time.advance(Duration.ofMillis(1));
    backend.next().answer();
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void forcedReleaseWakesTheFirstWaiterAtOnce() {
    backend.giveToAnother("x", Duration.ofHours(1));
    CompletableFuture<Optional<Lease>> waiting = waiters(1).get(0);
    assertThat(manager.forceRelease("x")).isTrue();
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void lossOfALeaseWakesTheFirstWaiterAtOnce() throws Exception {
    Lease held = manager.acquire(LockRequest.of("x", Duration.ofMillis(10)));
    CompletableFuture<Optional<Lease>> waiting = waiters(1).get(0);
    time.advance(Duration.ofMillis(10));
    assertThat(held.isHeld()).isFalse();
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void twentyThousandWaitersTimeOutTogether() {
    backend.giveToAnother("x", Duration.ofHours(1));
    List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      waiting.add(manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(1))));
    }
    time.passUnnoticed(Duration.ofSeconds(1));
    waiting.get(0).cancel(true);
    time.advance(Duration.ZERO);

    assertThat(waiting.subList(1, waiting.size()))
        .allSatisfy(future -> assertThat(future).isCompletedWithValue(Optional.empty()));
    assertThat(time.pending()).isEmpty();
  }

  private List<CompletableFuture<Optional<Lease>>> waiters(int count) {
    List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      waiting.add(manager.tryAcquireAsync(REQUEST.waitForever()));
    }
    return waiting;
  }

  private static Lease lease(CompletableFuture<Optional<Lease>> done) {
    return done.join().orElseThrow();
  }
}
