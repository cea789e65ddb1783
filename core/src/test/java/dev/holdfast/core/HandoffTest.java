package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Handoffs of a lock between the waiters of one manager. */
class HandoffTest {
  private static final int MAX_CONSECUTIVE = 8;
  private static final Duration YIELD = Duration.ofMillis(5);
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(60));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  @Rule("WAIT-10")
  @DisplayName("a handoff does not wait for the reply to the release")
  void handoffDoesNotWaitForTheReplyToTheRelease() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> released = held.releaseAsync();
    backend.next().takeEffect();
    assertThat(backend.calls(Op.ATTEMPT)).as("the holder's, and one behind the release").hasSize(2);
    assertThat(released).isNotDone();
    assertThat(next).isNotDone();
  }

  @Test
  @Rule("WAIT-5")
  @DisplayName("an attempt that overtook the release is made again")
  void anAttemptThatOvertookTheReleaseIsMadeAgain() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> released = held.releaseAsync();
    backend.next().answer();

    assertThat(released).isCompletedWithValue(true);
    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void releasingThreadAlsoServesTheHandoff() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    held.close();

    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(last(Op.RELEASE).isLent()).isTrue();
    assertThat(last(Op.ATTEMPT).isLent()).isTrue();
  }

  @Test
  @Rule("WAIT-1")
  @DisplayName("a waiter whose wait is over receives no handoff")
  void expiredWaiterReceivesNoHandoff() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> late = waiter(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    CompletableFuture<Optional<Lease>> behind = waiter(REQUEST.waitForever());
    time.passUnnoticed(Duration.ofSeconds(1));
    held.close();

    assertThat(late).isCompletedWithValue(Optional.empty());
    assertThat(behind).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(2);
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("after eight consecutive handoffs the queue yields to other managers")
  void queueYieldsToOtherManagersAfterEightConsecutiveHandoffs() throws Exception {
    Lease held = manager.acquire(REQUEST);
    List<CompletableFuture<Optional<Lease>>> waiting = waiters(2 * MAX_CONSECUTIVE + 2);
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < MAX_CONSECUTIVE; i++) {
        held = afterHandoff(held, waiting.remove(0));
      }
      held.close();
      time.advance(YIELD.dividedBy(2).minusNanos(1));
      assertThat(waiting.get(0)).as("the queue yields to other managers").isNotDone();
      time.advance(YIELD.dividedBy(2).plusNanos(1));
      held = waiting.remove(0).join().orElseThrow();
    }
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("handoffs are counted across a time in which the queue is empty")
  void handoffsAreCountedAcrossAnEmptyQueue() throws Exception {
    Lease held = manager.acquire(REQUEST);
    for (int i = 0; i < MAX_CONSECUTIVE; i++) {
      held = afterHandoff(held, waiter(REQUEST.waitForever()));
    }
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    held.close();
    assertThat(next).as("the queue yields to other managers").isNotDone();
    time.advance(YIELD);
    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-5")
  @DisplayName("a waiter that is refused during the last handoff tries again")
  void waiterRefusedDuringTheLastHandoffTriesAgain() throws Exception {
    Lease held = manager.acquire(REQUEST);
    for (int i = 0; i < MAX_CONSECUTIVE; i++) {
      held = afterHandoff(held, waiter(REQUEST.waitForever()));
    }
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    time.advance(Duration.ofSeconds(1));
    ScriptedBackend.Unanswered refused = backend.next();
    refused.takeEffect();
    held.close();
    backend.answerAtOnce(Op.ATTEMPT);
    refused.answer();
    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("a handoff counts also if its attempt overtook the release")
  void handoffsAreCountedIfTheAttemptOvertakesTheRelease() throws Exception {
    Lease held = manager.acquire(REQUEST);
    List<CompletableFuture<Optional<Lease>>> waiting = waiters(MAX_CONSECUTIVE + 1);
    for (int i = 0; i < MAX_CONSECUTIVE; i++) {
      backend.holdBack(Op.RELEASE);
      held.releaseAsync();
      backend.next().answer(); // behind the attempt, which was answered at once
      backend.answerAtOnce(Op.RELEASE);
      held = waiting.remove(0).join().orElseThrow();
    }
    held.close();
    assertThat(waiting.get(0)).as("the queue yields to other managers").isNotDone();
    time.advance(YIELD);
    assertThat(waiting.get(0)).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-5")
  @DisplayName("if the waiter that received the handoff is cancelled, the next one tries")
  void nextWaiterTriesIfTheHandoffIsCancelled() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> first = waiter(REQUEST.waitForever());
    CompletableFuture<Optional<Lease>> second = waiter(REQUEST.waitForever());
    backend.holdBack(Op.RELEASE);
    held.releaseAsync();
    first.cancel(false);
    backend.next().answer();
    assertThat(second).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("a lock that holdAtLeast keeps is not handed off")
  void lockHeldAtLeastIsNotHandedOff() throws Exception {
    Lease held = manager.acquire(REQUEST.holdAtLeast(Duration.ofSeconds(1)));
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    int before = backend.calls(Op.ATTEMPT).size();
    held.close();
    assertThat(backend.calls(Op.ATTEMPT)).as("it would be refused").hasSize(before);
    assertThat(backend.handoffs()).containsExactly(false);
    time.advance(Duration.ofSeconds(2));
    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("other managers are notified of a release without a handoff, and of no other")
  void releaseIsPublishedOnlyWithoutAHandoff() throws Exception {
    Lease held = manager.acquire(REQUEST);
    held = afterHandoff(held, waiter(REQUEST.waitForever()));
    held.close();
    assertThat(backend.handoffs()).containsExactly(true, false);
  }

  private static Lease afterHandoff(Lease held, CompletableFuture<Optional<Lease>> next) {
    assertThat(held.release()).isTrue();
    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
    return next.join().orElseThrow();
  }

  private Call last(Op op) {
    List<Call> calls = backend.calls(op);
    return calls.get(calls.size() - 1);
  }

  private CompletableFuture<Optional<Lease>> waiter(LockRequest request) {
    return manager.tryAcquireAsync(request);
  }

  private List<CompletableFuture<Optional<Lease>>> waiters(int number) {
    return new ArrayList<>(
        IntStream.range(0, number).mapToObj(i -> waiter(REQUEST.waitForever())).toList());
  }
}
