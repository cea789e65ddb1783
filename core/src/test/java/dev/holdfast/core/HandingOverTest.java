package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How a lock passes from one of a process to the next. */
class HandingOverTest {
  private static final int MOST_IN_ROW = 8;
  private static final Duration REST = Duration.ofMillis(5);
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(60));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  @DisplayName("WAIT-10: the next one's attempt does not wait for the answer to the release")
  void theNextOnesAttemptDoesNotWaitForTheAnswerToTheRelease() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> released = held.releaseAsync().toCompletableFuture();
    backend.next().takeEffect();
    assertThat(backend.calls(Op.ATTEMPT)).as("its first, and one behind the release").hasSize(3);
    assertThat(released).isNotDone();
    assertThat(next).isNotDone();
  }

  @Test
  @DisplayName("WAIT-5: an attempt that overtook the release is made again")
  void anAttemptThatOvertookTheReleaseIsMadeAgain() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    backend.holdBack(Op.RELEASE);
    CompletableFuture<Boolean> released = held.releaseAsync().toCompletableFuture();
    backend.next().answer();

    assertThat(released).isCompletedWithValue(true);
    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void theThreadThatReleasesServesTheAttemptBehindItToo() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> next = waiter(REQUEST.waitForever());
    held.close();

    assertThat(next).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(last(Op.RELEASE).callerWaits()).as("it would block before the attempt").isFalse();
    assertThat(last(Op.ATTEMPT).callerWaits()).isTrue();
  }

  @Test
  @DisplayName("WAIT-1: nobody whose time is over is handed a lock")
  void nobodyWhoseTimeIsOverIsHandedALock() throws Exception {
    Lease held = manager.acquire(REQUEST);
    CompletableFuture<Optional<Lease>> late = waiter(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    CompletableFuture<Optional<Lease>> behind = waiter(REQUEST.waitForever());
    time.passUnnoticed(Duration.ofSeconds(1));
    held.close();

    assertThat(late).isCompletedWithValue(Optional.empty());
    assertThat(behind).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(3);
  }

  @Test
  @DisplayName("WAIT-10: after eight in a row others have a moment for an attempt of theirs")
  void afterEightInARowOthersHaveAMoment() throws Exception {
    Lease held = manager.acquire(REQUEST);
    List<CompletableFuture<Optional<Lease>>> waiting = waiters(2 * MOST_IN_ROW + 2);
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < MOST_IN_ROW; i++) {
        held = handedOver(held, waiting.remove(0));
      }
      held.close();
      time.advance(REST.dividedBy(2).minusNanos(1));
      assertThat(waiting.get(0)).as("others have a moment").isNotDone();
      time.advance(REST.dividedBy(2).plusNanos(1));
      held = waiting.remove(0).join().orElseThrow();
    }
  }

  private static Lease handedOver(Lease held, CompletableFuture<Optional<Lease>> next) {
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
