package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeepingAliveTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration THIRD = TTL.dividedBy(3);
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final Duration MAX_HOLD = Duration.ofSeconds(75);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL).keepAliveUpTo(MAX_HOLD);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).retryDelay(RETRY).build();
  private final long begun = time.nanos();

  @Test
  void withoutKeepAliveNothingIsRenewed() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL));
    time.advance(TTL);
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void itIsRenewedAtEveryThirdOfItsTtlUntilTheLongestHold() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.advance(Duration.ofMinutes(10));

    assertThat(renewedAt()).containsExactly(10L, 20L, 30L, 40L, 50L);
    assertThat(backend.calls(Op.EXTEND))
        .extracting(Call::time)
        .containsExactly(TTL, TTL, TTL, TTL, Duration.ofSeconds(25));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.MAX_HOLD);
  }

  @Test
  @Rule("KEEP-5")
  @DisplayName("the first renewal is counted from the beginning of the attempt")
  void theFirstRenewalIsCountedFromTheBeginningOfTheAttempt() {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST);
    time.advance(Duration.ofSeconds(9));
    backend.next().answer();
    time.advance(Duration.ofSeconds(10));
    assertThat(renewedAt()).containsExactly(10L);
  }

  @Test
  @Rule("KEEP-5")
  @DisplayName("a renewal that is late already is sent at once")
  void aRenewalThatIsLateAlreadyIsSentAtOnce() {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST);
    time.advance(Duration.ofSeconds(15));
    backend.next().answer();
    time.advance(Duration.ZERO);
    assertThat(renewedAt()).containsExactly(15L);
  }

  @Test
  @Rule("KEEP-5")
  @DisplayName("a renewal is counted from the beginning of the renewal before it")
  void aRenewalIsCountedFromTheBeginningOfTheOneBefore() throws Exception {
    manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    time.advance(Duration.ofSeconds(13)); // the first is sent at 10 s
    backend.next().answer();
    time.advance(Duration.ofSeconds(20)); // the second at 20 s
    backend.next().answer();
    time.advance(Duration.ZERO);
    assertThat(renewedAt()).containsExactly(10L, 20L, 33L);
  }

  @Test
  @Rule("LOSS-4")
  @DisplayName("a lease that ends during an unanswered renewal is UNREACHABLE")
  void leaseThatEndsDuringAnUnansweredRenewalIsUnreachable() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    time.advance(TTL);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.UNREACHABLE);
  }

  @Test
  @Rule("KEEP-1")
  @DisplayName("a tiny extension does not end the renewals")
  void tinyExtensionDoesNotEndTheRenewals() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    lease.extend(Duration.ofNanos(900_000));

    time.advance(MAX_HOLD.minusNanos(1000));

    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void itIsHeldUntilTheLongestHoldAndNoLonger() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.advance(MAX_HOLD.minusNanos(1000));
    assertThat(lease.isHeld()).isTrue();
    time.advance(Duration.ofNanos(1000));
    assertThat(lease.isHeld()).isFalse();
    assertThat(backend.holder("x")).as("given back").isEmpty();
  }

  @Test
  @Rule("KEEP-2")
  @DisplayName("a renewal that failed is tried again sooner, and then as before")
  void failedRenewalIsTriedAgainSoonerThenAtTheUsualInterval() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofHours(1)));
    backend.failing(Op.EXTEND, new LockOutageException("no quorum", Map.of(), true));
    time.advance(THIRD);
    assertThat(backend.calls(Op.EXTEND)).hasSize(1);
    assertThat(lease.isHeld()).isTrue();

    time.advance(RETRY);
    assertThat(backend.calls(Op.EXTEND)).hasSizeBetween(2, 3);
    backend.healed();
    time.advance(RETRY);
    assertThat(lease.remaining()).isGreaterThan(TTL.minus(RETRY));
    int renewals = backend.calls(Op.EXTEND).size();
    time.advance(THIRD.multipliedBy(6));
    assertThat(backend.calls(Op.EXTEND)).hasSize(renewals + 6);
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void aRenewalThatMeetsAnUnexpectedFaultIsTriedAgainToo() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.EXTEND, new IllegalStateException("a fault of the backend's"));
    time.advance(THIRD);
    backend.healed();
    time.advance(THIRD);
    assertThat(lease.remaining()).isGreaterThanOrEqualTo(TTL.minus(THIRD));
  }

  @Test
  void anOutageThatLastsEndsTheLeaseAndItsRenewal() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.EXTEND, new LockOutageException("no quorum", Map.of(), true));
    time.advance(TTL);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.UNREACHABLE);
    int renewals = backend.calls(Op.EXTEND).size();
    assertThat(renewals).isBetween(20, 42);

    backend.healed();
    time.advance(Duration.ofMinutes(1));
    assertThat(backend.calls(Op.EXTEND)).hasSize(renewals);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void aRenewalThatIsNotAnsweredIsNotDoubled() throws Exception {
    manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    time.advance(TTL.minusNanos(1000));
    assertThat(backend.calls(Op.EXTEND)).hasSize(1);
  }

  @Test
  void itIsNotRenewedAfterItsRelease() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.advance(THIRD);
    assertThat(lease.release()).isTrue();
    time.advance(Duration.ofMinutes(2));
    assertThat(renewedAt()).containsExactly(10L);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void itIsNotRenewedAgainWhenItIsReleasedInMidRenewal() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    time.advance(THIRD);
    CompletableFuture<Boolean> released = lease.releaseAsync();
    backend.next().answer();
    assertThat(released).isCompletedWithValue(true);
    time.advance(Duration.ofMinutes(2));
    assertThat(renewedAt()).containsExactly(10L);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void itIsNotRenewedAfterItsLoss() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.giveToAnother("x", Duration.ofHours(1));
    time.advance(Duration.ofMinutes(2));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.TAKEN);
    assertThat(renewedAt()).containsExactly(10L);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void itIsNotRenewedAfterTheManagerIsClosed() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    manager.close();
    time.advance(Duration.ofMinutes(2));
    assertThat(lease.isHeld()).isFalse();
    assertThat(renewedAt()).isEmpty();
    assertThat(time.pending()).isEmpty();
  }

  @Test
  @Rule("KEEP-4")
  @DisplayName("awaiting the loss does not keep a lease alive")
  void awaitingTheLossDoesNotKeepALeaseAlive() throws Exception {
    List<CompletableFuture<LossReason>> lost = new ArrayList<>();
    collect(dropped(manager.acquire(REQUEST), lost));
    try (Warnings warnings = Warnings.of(Lease.class)) {
      time.advance(TTL.minusNanos(1000));
      assertThat(warnings.texts())
          .singleElement()
          .asString()
          .contains("'x'", "dropped without a release", "no longer renewed");
    }
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    assertThat(backend.holder("x")).as("it is not released but left to expire").isPresent();

    time.advance(Duration.ofNanos(1000));
    assertThat(lost.get(0)).isCompletedWithValue(LossReason.EXPIRED);
    time.assertIdle();
  }

  @Test
  @Rule("KEEP-4")
  @DisplayName("reports to a listener do not keep a lease alive")
  void reportsDoNotKeepALeaseAlive() throws Exception {
    manager.addListener(new LockListener() {});
    collect(new WeakReference<>(manager.acquire(REQUEST)));
    time.advance(TTL);

    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    time.assertIdle();
  }

  @Test
  void aLeaseThatIsReachableIsRenewedThroughCollections() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    collect(dropped(manager.acquire(LockRequest.of("y", TTL)), new ArrayList<>()));
    time.advance(THIRD);
    assertThat(renewedAt()).containsExactly(10L);
    assertThat(lease.isHeld()).isTrue();
  }

  private List<Long> renewedAt() {
    return backend.calls(Op.EXTEND).stream()
        .map(call -> Duration.ofNanos(call.at() - begun).toSeconds())
        .toList();
  }

  private static WeakReference<Lease> dropped(
      Lease lease, List<CompletableFuture<LossReason>> lost) {
    lost.add(lease.onLoss());
    return new WeakReference<>(lease);
  }

  private static void collect(WeakReference<Lease> lease) {
    await()
        .until(
            () -> {
              System.gc();
              return lease.get() == null;
            });
  }
}
