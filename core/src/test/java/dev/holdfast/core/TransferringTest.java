package dev.holdfast.core;

import static dev.holdfast.core.FailedFutures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TransferringTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration WITHIN = Duration.ofSeconds(50);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);
  private static final LockRequest KEPT = REQUEST.keepAliveUpTo(Duration.ofMinutes(10));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void aTransferWaitsForTheExtensionInFlight() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    CompletableFuture<String> text = lease.transferAsync(WITHIN);

    assertThat(backend.calls(Op.EXTEND)).hasSize(1);
    backend.next().answer();
    assertThat(extension).isCompleted();
    assertThat(text).isNotDone();
    assertThat(lease.isHeld()).isTrue();

    backend.next().answer();
    assertThat(text).isCompleted();
    assertThat(backend.calls(Op.EXTEND).get(1).time()).isEqualTo(WITHIN);
  }

  @Test
  void keepAliveUpToDoesNotLimitTheTimeForAnAdoption() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(TTL));
    time.advance(TTL.dividedBy(2));

    lease.transfer(WITHIN);

    assertThat(backend.calls(Op.EXTEND)).last().extracting("time").isEqualTo(WITHIN);
  }

  @Test
  void transferredLeaseSendsNothing() throws Exception {
    Lease lease = manager.acquire(KEPT.holdAtLeast(TTL));
    lease.transfer(WITHIN);
    int calls = backend.calls().size();

    time.advance(TTL);
    assertThat(lease.release()).isTrue();
    assertThat(lease.releaseAsync()).isCompletedWithValue(true);
    lease.close();
    manager.close();
    time.advance(TTL);

    assertThat(backend.calls()).hasSize(calls);
    assertThat(lease.onLoss()).isNotDone();
    assertThat(lease.remaining()).isZero();
  }

  @Test
  void everyMethodSaysThatTheLeaseWasTransferred() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    lease.transfer(WITHIN);

    assertThatThrownBy(lease::requireHeld).hasMessage("the lease on 'x' was transferred");
    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lease.transfer(TTL)).isInstanceOf(IllegalStateException.class);
    assertThat(lease.transferAsync(TTL)).isCompletedExceptionally();
  }

  @Test
  void aReleaseEndsATransferInFlight() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<String> text = lease.transferAsync(WITHIN);

    assertThat(lease.release()).isTrue();
    backend.next().answer();

    assertThat(failureOf(text)).isInstanceOf(IllegalStateException.class);
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
  }

  @Test
  void aLossEndsATransferInFlight() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<String> text = lease.transferAsync(WITHIN);

    time.advance(TTL);
    backend.next().answer();

    assertThat(failureOf(text)).isInstanceOf(LockLostException.class);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void aTransferOfARemovedLockIsALoss() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.wipe("x");

    assertThatThrownBy(() -> lease.transfer(WITHIN)).isInstanceOf(LockLostException.class);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.REMOVED);
  }

  @Test
  void afterAnOutageTheLeaseIsHeldAndRenewed() throws Exception {
    Lease lease = manager.acquire(KEPT);
    backend.failing(Op.EXTEND, new LockOutageException("no quorum", Map.of(), true));
    assertThatThrownBy(() -> lease.transfer(WITHIN)).isInstanceOf(LockOutageException.class);
    backend.healed();

    time.advance(TTL.multipliedBy(2));

    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.transfer(WITHIN)).isNotEmpty();
  }

  @Test
  void anExtensionBehindATransferFailsAndCostsNoText() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<String> text = lease.transferAsync(WITHIN);
    CompletableFuture<Void> extension = lease.extendAsync(TTL);

    backend.next().answer();

    assertThat(text).isCompleted();
    assertThat(failureOf(extension)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void undeliveredTransferTextReleasesTheLock() throws Exception {
    Lease lease = manager.acquire(REQUEST.holdAtLeast(TTL));
    backend.holdBack(Op.EXTEND);
    lease.transferAsync(WITHIN).cancel(false);

    backend.next().answer();

    assertThat(backend.holder("x")).isEmpty();
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void anAdoptedLeaseIsRenewedAndReleased() throws Exception {
    String text = manager.acquire(REQUEST).transfer(WITHIN);
    time.advance(TTL);

    Lease adopted = manager.adopt(text, KEPT);

    assertThat(adopted.remaining()).isEqualTo(TTL);
    time.advance(TTL.multipliedBy(2));
    assertThat(adopted.isHeld()).isTrue();
    assertThat(adopted.release()).isTrue();
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void anAdoptionThatTheBackendDeniesNamesTheLockAndTheReason() throws Exception {
    String text = manager.acquire(REQUEST).transfer(WITHIN);
    backend.giveToAnother("x", TTL);

    assertThatThrownBy(() -> manager.adopt(text, REQUEST))
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.TAKEN))
        .hasMessageContaining("'x' cannot be adopted");
  }

  @Test
  void undeliveredAdoptionReleasesTheLock() throws Exception {
    String text = manager.acquire(REQUEST).transfer(WITHIN);
    backend.holdBack(Op.ADOPT);
    manager.adoptAsync(text, REQUEST).cancel(false);

    backend.next().answer();

    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  @Rule("TRANSFER-11")
  @DisplayName("a transfer or an adoption that completes too late for its caller leaves no lock")
  void lateResultsLeaveNoLock() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    String text = manager.acquire("y", TTL).transfer(WITHIN);
    backend.longestOperation(Duration.ZERO);
    backend.holdBack(Op.EXTEND);
    backend.holdBack(Op.ADOPT);
    Background<String> transfer = Background.run(() -> lease.transfer(WITHIN));
    Background<Lease> adoption =
        Background.run(() -> manager.adopt(text, LockRequest.of("y", TTL)));
    assertThat(transfer.failure()).isInstanceOf(LockOutageException.class);
    assertThat(adoption.failure()).isInstanceOf(LockOutageException.class);

    backend.next().answer();
    backend.next().answer();

    assertThat(backend.holder("x")).isEmpty();
    assertThat(backend.holder("y")).isEmpty();
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void anAdoptionThatWaitsForAPermitAsksNoNodeOfAClosedManager() throws Exception {
    String text = manager.acquire(REQUEST).transfer(WITHIN);
    LockManager other = ScriptedBackend.manager(backend, time).build();
    backend.holdBack(Op.ATTEMPT);
    for (int i = 0; i < ConcurrencyLimiter.MAX_IN_FLIGHT; i++) {
      other.tryAcquireAsync(LockRequest.of("n" + i, TTL));
    }
    CompletableFuture<Lease> adoption = other.adoptAsync(text, REQUEST);
    Background<Boolean> closing =
        Background.run(
                () -> {
                  other.close();
                  return true;
                })
            .awaitBlocked();
    while (backend.waitingForAnswers() > 0) {
      backend.next().answer();
    }

    assertThat(closing.result()).isTrue();
    assertThat(failureOf(adoption)).isInstanceOf(IllegalStateException.class);
    assertThat(backend.calls(Op.ADOPT)).isEmpty();
    assertThat(manager.adopt(text, REQUEST).isHeld()).isTrue();
  }

  @Test
  void closingDuringAnAdoptionKeepsNoLock() throws Exception {
    String text = manager.acquire(REQUEST).transfer(WITHIN);
    LockManager other = ScriptedBackend.manager(backend, time).build();
    backend.holdBack(Op.ADOPT);
    CompletableFuture<Lease> adoption = other.adoptAsync(text, REQUEST);
    Thread closing = new Thread(other::close);
    closing.start();
    while (backend.waitingForAnswers() == 0 || !isClosed(other)) {
      Thread.onSpinWait();
    }

    backend.next().answer();
    closing.join();

    assertThat(failureOf(adoption)).isInstanceOf(IllegalStateException.class);
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void transferTimeAboveTheMaximumTtlIsRefused() throws Exception {
    Lease lease = manager.acquire(REQUEST);

    assertThatThrownBy(() -> lease.transfer(Duration.ofHours(1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("above maxTtl, 60s");
    assertThatThrownBy(() -> lease.transfer(Duration.ZERO))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(lease.transferAsync(Duration.ofHours(1))).isCompletedExceptionally();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void theTokenIsInNoText() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    String text = lease.transfer(WITHIN);

    assertThat(lease.toString()).doesNotContain(lease.token());
    assertThat(TransferText.of(text).toString()).doesNotContain(lease.token());
    assertThat(
            new LockPrimitive.Adoption(
                new LockPrimitive.Attempt("x", "me", TTL, new AttemptProgress()), "t0ken"))
        .asString()
        .doesNotContain("t0ken");
  }

  private static boolean isClosed(LockManager manager) {
    try {
      return manager.tryAcquireAsync(REQUEST).isCompletedExceptionally();
    } catch (IllegalStateException closed) {
      return true;
    }
  }
}
