package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Reactions to a backend's notification that another process has released a lock. */
class ListeningTest {
  private static final int MAX_CONSECUTIVE = 8;
  private static final Duration NOTIFIED_DELAY = Duration.ofMillis(2);
  private static final Duration YIELD = Duration.ofMillis(5);
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL).waitForever();

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).retryDelay(Duration.ofSeconds(5)).build();

  @Test
  @Rule("WAIT-11")
  @DisplayName("a notified waiter tries within 2 ms")
  void notifiedWaiterTriesWithin2Ms() {
    backend.giveToAnother("x", TTL);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    backend.wipe("x");
    time.advance(NOTIFIED_DELAY);
    assertThat(waiting).as("not notified").isNotDone();

    backend.publish("x");
    assertThat(waiting).as("not at once, because other managers were notified, too").isNotDone();
    time.advance(NOTIFIED_DELAY);

    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("each unsuccessful notification halves the delay, three times")
  void eachUnsuccessfulNotificationHalvesTheDelayThreeTimes() {
    backend.giveToAnother("x", TTL);
    manager.tryAcquireAsync(REQUEST);
    for (int times : new int[] {0, 1, 2, 3, 0}) {
      assertAsksWithin(NOTIFIED_DELAY.dividedBy(1L << times));
    }
  }

  @Test
  @Rule("WAIT-13")
  @DisplayName("after consecutive handoffs each other manager has its turn before the next attempt")
  void eachOtherManagerHasItsTurnAfterConsecutiveHandoffs() throws InterruptedException {
    backend.others(3);
    handOffToTheLimit();

    assertAsksWithin(YIELD);
    assertAsksWithin(YIELD);
    assertAsksWithin(NOTIFIED_DELAY.dividedBy(8));
    assertAsksWithin(NOTIFIED_DELAY.dividedBy(8)); // three unsuccessful notifications by now
    assertAsksWithin(NOTIFIED_DELAY);
  }

  @Test
  @Rule("WAIT-13")
  @DisplayName("a notification during an attempt counts, and its turn is not lost")
  void notificationDuringAnAttemptCountsAsATurn() throws InterruptedException {
    backend.others(2);
    handOffToTheLimit();
    backend.holdBack(Op.ATTEMPT);
    backend.publish("x");
    time.advance(YIELD);
    ScriptedBackend.Unanswered refused = backend.next();
    refused.takeEffect();
    backend.wipe("x");
    backend.publish("x");
    backend.answerAtOnce(Op.ATTEMPT);
    int before = backend.calls(Op.ATTEMPT).size();
    refused.answer();
    time.advance(NOTIFIED_DELAY.dividedBy(8));

    assertThat(backend.calls(Op.ATTEMPT)).hasSize(before + 1);
  }

  @Test
  @Rule("WAIT-13")
  @DisplayName("two managers take no turns, nor does an unknown number")
  void twoManagersTakeNoTurns() throws InterruptedException {
    handOffToTheLimit();

    assertAsksWithin(NOTIFIED_DELAY);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("repeated notifications do not postpone the attempt")
  void repeatedNotificationsDoNotPostponeTheAttempt() {
    backend.giveToAnother("x", TTL);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    backend.wipe("x");
    for (int hint = 0; hint < 40; hint++) {
      backend.publish("x");
      time.advance(NOTIFIED_DELAY.dividedBy(20));
    }
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-2")
  @DisplayName("a waiter that cannot subscribe polls")
  void waiterPollsIfItCannotSubscribe() {
    backend.giveToAnother("x", TTL);
    backend.failToWatch(new IllegalStateException("it cannot listen"));
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    backend.wipe("x");
    time.advance(Duration.ofSeconds(5));
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("a notification during an attempt starts another attempt")
  void notificationDuringAnAttemptStartsAnotherAttempt() {
    backend.giveToAnother("x", TTL);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST);
    backend.holdBack(Op.ATTEMPT);
    time.advance(Duration.ofSeconds(5));
    ScriptedBackend.Unanswered refused = backend.next();
    refused.takeEffect();
    backend.wipe("x");
    backend.publish("x");
    backend.answerAtOnce(Op.ATTEMPT);
    refused.answer();
    time.advance(NOTIFIED_DELAY);

    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("only waiters subscribe, and only while they wait")
  void onlyWaitersSubscribe() throws Exception {
    Lease held = manager.acquire(LockRequest.of("x", TTL));
    assertThat(manager.tryAcquire("x", TTL)).isEmpty();
    assertThat(backend.watched()).isEmpty();

    List<CompletableFuture<Optional<Lease>>> waiting =
        List.of(manager.tryAcquireAsync(REQUEST), manager.tryAcquireAsync(REQUEST));
    assertThat(backend.watched()).as("a release here is known here").isEmpty();
    time.advance(Duration.ofSeconds(5));
    assertThat(backend.watched()).containsExactly("x");
    waiting.get(0).completeExceptionally(new CancellationException());
    assertThat(backend.watched()).containsExactly("x");
    waiting.get(1).cancel(false);

    assertThat(backend.watched()).isEmpty();
    held.close();
  }

  @Test
  @Rule("WAIT-11")
  @DisplayName("closing the manager ends the subscriptions")
  void closingTheManagerEndsTheSubscriptions() {
    backend.giveToAnother("x", TTL);
    manager.tryAcquireAsync(REQUEST);
    manager.close();

    assertThat(backend.watched()).isEmpty();
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("handoffs do not yield if no other manager waits")
  void handoffsDoNotYieldIfNoOtherManagerWaits() throws Exception {
    backend.others(0);
    Lease held = manager.acquire(LockRequest.of("x", TTL));
    List<CompletableFuture<Optional<Lease>>> waiting =
        new ArrayList<>(
            IntStream.range(0, 3 * MAX_CONSECUTIVE)
                .mapToObj(i -> manager.tryAcquireAsync(REQUEST))
                .toList());
    while (!waiting.isEmpty()) {
      assertThat(held.release()).isTrue();
      held = waiting.remove(0).join().orElseThrow();
    }
    held.close();
  }

  /** Eight consecutive handoffs, and a ninth waiter that yields and is refused. */
  private void handOffToTheLimit() throws InterruptedException {
    Lease held = manager.acquire(LockRequest.of("x", TTL));
    List<CompletableFuture<Optional<Lease>>> waiting =
        IntStream.rangeClosed(0, MAX_CONSECUTIVE)
            .mapToObj(i -> manager.tryAcquireAsync(REQUEST))
            .toList();
    for (int handoffs = 0; handoffs < MAX_CONSECUTIVE; handoffs++) {
      held.release();
      held = waiting.get(handoffs).join().orElseThrow();
    }
    held.release();
    backend.giveToAnother("x", TTL);
    time.advance(YIELD);
  }

  /** Asserts an attempt within that time of a notification, and not before half of it. */
  private void assertAsksWithin(Duration longest) {
    int before = backend.calls(Op.ATTEMPT).size();
    backend.publish("x");
    time.advance(longest.dividedBy(2).minusNanos(1));
    assertThat(backend.calls(Op.ATTEMPT)).as("before half of %s", longest).hasSize(before);
    time.advance(longest.dividedBy(2).plusNanos(1));
    assertThat(backend.calls(Op.ATTEMPT)).as("after %s", longest).hasSize(before + 1);
  }
}
