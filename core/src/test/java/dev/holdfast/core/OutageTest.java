package dev.holdfast.core;

import static dev.holdfast.core.CallersFrames.assertIsCopyOf;
import static dev.holdfast.core.CallersFrames.assertIsFromHere;
import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** An outage is never reported as contention, nor contention as an outage. */
class OutageTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration RETRY = Duration.ofMillis(200);
  private static final Duration WAIT = Duration.ofSeconds(2);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final LockOutageException outage =
      new LockOutageException("no quorum", Map.of("h1:6379", new Exception("refused")), false);
  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).retryDelay(RETRY).build();

  @Test
  void singleAttemptFailsWithTheOutageAtOnce() {
    backend.failing(Op.ATTEMPT, outage);
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST))
        .satisfies(thrown -> assertIsFromHere(thrown, outage));
    assertFailed(manager.tryAcquireAsync(REQUEST), outage);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void acquireRetriesDuringAnOutageUntilItsWaitEnds() throws Exception {
    backend.failing(Op.ATTEMPT, outage);
    Background<Lease> waiting =
        Background.run(() -> manager.acquire(REQUEST.waitAtMost(WAIT))).awaitBlocked();
    time.advance(WAIT.minusNanos(1));
    assertThat(waiting.isDone()).isFalse();
    assertThat(backend.calls(Op.ATTEMPT)).hasSizeBetween(10, 21);
    time.advance(Duration.ofNanos(1));
    assertIsFromHere(waiting.failure(), outage);
  }

  @Test
  @Rule("WAIT-15")
  @DisplayName("a wait that ends behind an attempt that no quorum answers is an outage")
  void waitBehindAHangingAttemptEndsWithAnOutage() {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> early = manager.tryAcquireAsync(REQUEST.waitAtMost(RETRY));
    CompletableFuture<Optional<Lease>> late = manager.tryAcquireAsync(REQUEST.waitAtMost(WAIT));
    time.advance(RETRY);
    assertThat(early)
        .as("the attempt may well be answered yet")
        .isCompletedWithValue(Optional.empty());

    backend.outageSoFar(outage);
    assertThat(manager.tryAcquireAsync(REQUEST))
        .as("WAIT-8: one that does not wait is empty at once")
        .isCompletedWithValue(Optional.empty());
    time.advance(WAIT);
    assertFailed(late, outage);
  }

  @Test
  @Rule("WAIT-15")
  @DisplayName("an answered attempt reports no outage")
  void answeredAttemptReportsNoOutage() {
    backend.giveToAnother("x", TTL);
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST.waitForever());
    backend.outageSoFar(outage);
    backend.next().answer();
    CompletableFuture<Optional<Lease>> behind = manager.tryAcquireAsync(REQUEST.waitAtMost(RETRY));
    backend.answerAtOnce(Op.ATTEMPT);
    time.advance(RETRY);
    assertThat(behind).isCompletedWithValue(Optional.empty());
  }

  @Test
  void aBackendThatComesBackInTimeGrants() {
    backend.failing(Op.ATTEMPT, outage);
    CompletableFuture<Optional<Lease>> waiting = manager.tryAcquireAsync(REQUEST.waitAtMost(WAIT));
    time.advance(RETRY);
    backend.healed();
    time.advance(RETRY);
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  @Rule("WAIT-6")
  @DisplayName("a retry delay above a second is for contention alone")
  void aLongRetryDelayIsForContentionAlone() {
    LockManager patient =
        ScriptedBackend.manager(backend, time).retryDelay(Duration.ofMinutes(10)).build();
    backend.failing(Op.ATTEMPT, outage);
    CompletableFuture<Optional<Lease>> waiting = patient.tryAcquireAsync(REQUEST.waitForever());
    backend.healed();
    backend.giveToAnother("x", TTL);
    time.advance(Duration.ofMillis(499));
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(1);
    time.advance(Duration.ofMillis(501));
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(2);

    backend.wipe("x");
    time.advance(Duration.ofMinutes(5).minusNanos(1));
    assertThat(waiting).as("after contention").isNotDone();
    time.advance(Duration.ofMinutes(5));
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void lastAttemptDecidesTheResult() throws Exception {
    backend.giveToAnother("x", Duration.ofHours(1));
    CompletableFuture<Optional<Lease>> outageAtLast =
        manager.tryAcquireAsync(REQUEST.waitAtMost(WAIT));
    time.advance(RETRY);
    backend.failing(Op.ATTEMPT, outage);
    time.advance(WAIT);
    assertFailed(outageAtLast, outage);

    Background<Lease> contendedAtLast =
        Background.run(() -> manager.acquire(REQUEST.waitAtMost(WAIT))).awaitBlocked();
    time.advance(RETRY);
    backend.healed();
    time.advance(WAIT);
    assertThat(contendedAtLast.failure())
        .isInstanceOfSatisfying(
            LockContendedException.class, e -> assertThat(e.votes().refused()).isOne());
  }

  @Test
  void queuedWaitersReportTheOutageOfTheFirst() {
    backend.failing(Op.ATTEMPT, outage);
    manager.tryAcquireAsync(REQUEST.waitForever());
    CompletableFuture<Optional<Lease>> behind = manager.tryAcquireAsync(REQUEST.waitAtMost(WAIT));
    assertFailed(manager.tryAcquireAsync(REQUEST), outage);
    time.advance(WAIT);
    assertFailed(behind, outage);
  }

  @Test
  @Rule("RES-1")
  @DisplayName("each caller receives its own exception for an outage")
  void eachCallerReceivesItsOwnOutageException() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("y", TTL));
    backend.failing(Op.ATTEMPT, outage);
    backend.failing(Op.RELEASE, outage);
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      asked.add(manager.tryAcquireAsync(REQUEST.waitAtMost(WAIT)));
      asked.add(lease.releaseAsync());
    }
    time.advance(WAIT);

    Set<Throwable> failures = Collections.newSetFromMap(new IdentityHashMap<>());
    for (CompletableFuture<?> each : asked) {
      assertThatThrownBy(each::join).satisfies(failed -> failures.add(failed.getCause()));
    }
    assertThat(failures).hasSameSizeAs(asked);
  }

  @Test
  @Rule("FAULT-8")
  @DisplayName("an outage caused by the first waiter's own ttl is not reported to those behind it")
  void outageCausedByTheTtlOfTheFirstIsNotReportedToOthers() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> first =
        manager.tryAcquireAsync(REQUEST.waitAtMost(RETRY.multipliedBy(3)));
    CompletableFuture<Optional<Lease>> behind = manager.tryAcquireAsync(REQUEST.waitAtMost(RETRY));
    backend.limitedByTtl();
    backend.next().fail(outage);

    assertThat(manager.tryAcquireAsync(REQUEST)).isCompletedWithValue(Optional.empty());
    time.advance(RETRY);
    assertThat(behind).isCompletedWithValue(Optional.empty());
    backend.answerAtOnce(Op.ATTEMPT);
    backend.failing(Op.ATTEMPT, outage);
    backend.next().fail(outage);
    time.advance(RETRY.multipliedBy(3));
    assertFailed(first, outage);
  }

  @Test
  void queuedWaitersDoNotReportAPastOutage() {
    backend.failing(Op.ATTEMPT, outage);
    CompletableFuture<Optional<Lease>> first = manager.tryAcquireAsync(REQUEST.waitForever());
    manager.tryAcquireAsync(REQUEST.waitForever());
    CompletableFuture<Optional<Lease>> third =
        manager.tryAcquireAsync(REQUEST.waitAtMost(RETRY.multipliedBy(2)));
    backend.healed();
    time.advance(time.pending().get(0));
    assertThat(first).isCompletedWithValueMatching(Optional::isPresent);

    assertThat(manager.tryAcquireAsync(REQUEST)).isCompletedWithValue(Optional.empty());
    backend.holdBack(Op.ATTEMPT);
    time.advance(RETRY.multipliedBy(2));
    assertThat(third).isCompletedWithValue(Optional.empty());
  }

  @Test
  void queuedWaitersReportContentionOnceTheFirstSeesIt() {
    backend.failing(Op.ATTEMPT, outage);
    manager.tryAcquireAsync(REQUEST.waitForever());
    backend.healed();
    backend.giveToAnother("x", TTL);
    time.advance(RETRY);
    assertThat(manager.tryAcquireAsync(REQUEST)).isCompletedWithValue(Optional.empty());
  }

  @Test
  void anOutageOfOneNameIsNotReportedForAnother() throws Exception {
    backend.failing(Op.ATTEMPT, outage);
    manager.tryAcquireAsync(REQUEST.waitForever());
    backend.healed();
    assertThat(manager.tryAcquire(LockRequest.of("y", TTL))).isPresent();
  }

  @Test
  void inspectionAndForcedReleaseReportTheOutage() {
    backend.failing(Op.INSPECT, outage);
    backend.failing(Op.FORCE_RELEASE, outage);
    assertThatThrownBy(() -> manager.inspect("x"))
        .satisfies(thrown -> assertIsFromHere(thrown, outage));
    assertThatThrownBy(() -> manager.forceRelease("x"))
        .satisfies(thrown -> assertIsFromHere(thrown, outage));
  }

  private static void assertFailed(
      CompletableFuture<Optional<Lease>> future, LockOutageException outage) {
    assertIsCopyOf(outage, failureOf(future));
  }
}
