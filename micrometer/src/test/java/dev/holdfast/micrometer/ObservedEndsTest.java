package dev.holdfast.micrometer;

import static dev.holdfast.micrometer.RecordedObservations.low;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ends of holds that a fake lease reports at the worst time. */
class ObservedEndsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private final LockLostException taken = new LockLostException("a", LossReason.TAKEN);

  private final ObservationRegistry registry = ObservationRegistry.create();
  private final RecordedObservations recorded = new RecordedObservations();
  private final Map<String, Object> answers = new HashMap<>();
  private Lease lease;

  @BeforeEach
  void acquire() throws Exception {
    registry.observationConfig().observationHandler(recorded);
    answers.put("onLoss", new CompletableFuture<LossReason>());
    Lease fake = Forwarding.lease(this::answer);
    lease =
        HoldfastObservations.observed(Forwarding.manager(method -> fake), "m", registry)
            .acquire(LockRequest.of("a", TTL));
  }

  @SuppressWarnings("NullAway")
  @Test
  void aCancelledTransferEndsTheHoldAsReleased() {
    CompletableFuture<String> transfer = new CompletableFuture<>();
    answers.put("transferAsync", transfer);

    assertThat(lease.transferAsync(TTL).cancel(false)).isTrue();

    assertThat(transfer).isCancelled();
    assertEnded("released", null);
  }

  @SuppressWarnings("NullAway")
  @Test
  void aTransferWithoutAnAnswerLeavesTheHold() {
    answers.put("transferAsync", CompletableFuture.failedFuture(outage()));
    answers.put("transfer", outage());

    assertThat(lease.transferAsync(TTL)).isCompletedExceptionally();
    assertThatThrownBy(() -> lease.transfer(TTL)).isInstanceOf(LockOutageException.class);

    assertThat(holds()).isZero();
    answers.put("release", true);
    assertThat(lease.release()).isTrue();
    assertEnded("released", null);
  }

  @Test
  void aTransferThatFindsTheLossEndsTheHoldAsLost() {
    answers.put("transfer", taken);

    assertThatThrownBy(() -> lease.transfer(TTL)).isSameAs(taken);

    assertEnded("lost", taken);
  }

  @Test
  void anAsynchronousTransferThatFindsTheLossEndsTheHoldAsLost() {
    answers.put("transferAsync", CompletableFuture.failedFuture(taken));

    assertThat(lease.transferAsync(TTL)).isCompletedExceptionally();

    assertEnded("lost", taken);
  }

  @Test
  void anAsynchronousReleaseWithoutAnAnswerEndsTheHoldWithItsError() {
    LockOutageException outage = outage();
    answers.put("releaseAsync", CompletableFuture.failedFuture(outage));

    assertThat(lease.releaseAsync()).isCompletedExceptionally();

    assertEnded("released", outage);
  }

  @Test
  void aReleaseThatFoundNoKeyEndsTheHoldAsLostAlthoughTheLeaseSaysReleased() {
    answers.put("release", false);
    answers.put("requireHeld", new IllegalStateException("released"));

    assertThat(lease.release()).isFalse();

    assertThat(holds()).isEqualTo(1);
    Observation.Context hold = recorded.ended("holdfast.lock.hold").get(0);
    assertThat(low(hold)).containsEntry("end", "lost");
    assertThat(hold.getError()).hasMessageContaining("REMOVED");
  }

  @SuppressWarnings("NullAway")
  @Test
  void aCancelledReleaseIsNoError() {
    answers.put("releaseAsync", new CompletableFuture<Boolean>());

    assertThat(lease.releaseAsync().cancel(false)).isTrue();

    assertEnded("released", null);
  }

  @Test
  void closingALostLeaseBeforeItsLossIsReportedEndsTheHoldAsLost() {
    answers.put("requireHeld", taken);

    lease.close();

    assertEnded("lost", taken);
  }

  @SuppressWarnings("NullAway")
  @Test
  void closingALeaseWhoseReleaseIsNotAnsweredLeavesTheEndToTheRelease() {
    CompletableFuture<Boolean> release = new CompletableFuture<>();
    answers.put("releaseAsync", release);
    assertThat(lease.releaseAsync()).isNotDone();
    answers.put("requireHeld", new IllegalStateException("released"));

    lease.close();

    assertThat(holds()).isZero();
    release.complete(true);
    assertEnded("released", null);
  }

  @SuppressWarnings("NullAway")
  @Test
  void theFirstEndCounts() {
    answers.put("release", true);

    assertThat(lease.release()).isTrue();
    answers.put("transfer", taken);
    assertThatThrownBy(() -> lease.transfer(TTL)).isSameAs(taken);

    assertEnded("released", null);
  }

  @Test
  void aFailureThatADecoratorBelowWrappedReachesTheCallerUnwrapped() {
    LockOutageException outage = outage();
    CompletableFuture<Object> wrapped =
        CompletableFuture.failedFuture(new CompletionException(outage));
    CompletableFuture<Throwable> seen = new CompletableFuture<>();

    HoldfastObservations.observed(Forwarding.manager(method -> wrapped), "m", registry)
        .tryAcquireAsync(LockRequest.of("a", TTL))
        .whenComplete((result, failure) -> seen.complete(failure));

    assertThat(seen).isCompletedWithValue(outage);
  }

  private static LockOutageException outage() {
    return new LockOutageException("no quorum of nodes answered", Map.of(), false);
  }

  @SuppressWarnings("NullAway")
  private Object answer(Method method) {
    Object answer = answers.get(method.getName());
    if (answer instanceof RuntimeException failure) {
      throw failure;
    }
    return answer;
  }

  private long holds() {
    return recorded.ended("holdfast.lock.hold").size();
  }

  private void assertEnded(String how, Throwable error) {
    assertThat(holds()).isEqualTo(1);
    Observation.Context hold = recorded.ended("holdfast.lock.hold").get(0);
    assertThat(low(hold)).containsEntry("end", how);
    assertThat(hold.getError()).isSameAs(error);
  }
}
