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

class ExtendingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration TICK = Duration.ofNanos(1000);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void anExtensionMovesTheEndToTheNewTtlFromNow() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.advance(Duration.ofSeconds(20));
    lease.extend(TTL);
    assertThat(lease.remaining()).isEqualTo(TTL);
    time.advance(TTL.minus(TICK));
    assertThat(lease.isHeld()).isTrue();
    time.advance(TICK);
    assertLost(lease, LossReason.EXPIRED);
  }

  @Test
  void anExtensionNeverShortens() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    lease.extend(Duration.ofSeconds(1));
    assertThat(lease.remaining()).isEqualTo(TTL);
  }

  @Test
  void extensionAfterTheEndIsALossAndSendsNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.passUnnoticed(TTL);
    assertThatThrownBy(() -> lease.extend(TTL))
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void extensionAnsweredAfterTheEndDoesNotReviveTheLease() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    time.passUnnoticed(TTL.minus(TICK));
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    ScriptedBackend.Unanswered yes = backend.next();
    yes.takeEffect();
    time.passUnnoticed(TICK);
    yes.answer();

    assertLost(extension, LossReason.EXPIRED);
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
  }

  @Test
  void outageAtTheEndOfTheLeaseIsALoss() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    time.passUnnoticed(TTL);
    backend.next().fail(new LockOutageException("no quorum", Map.of(), true));

    assertLost(extension, LossReason.EXPIRED);
  }

  @Test
  void extendingALockThatAnotherOwnerTookIsALoss() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.giveToAnother("x", TTL);
    assertThatThrownBy(() -> lease.extend(TTL))
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.TAKEN));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.TAKEN);
    assertThat(backend.holder("x")).contains("another's");
  }

  @Test
  void extendingARemovedLockIsALoss() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.wipe("x");
    assertLost(lease.extendAsync(TTL), LossReason.REMOVED);
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void unansweredExtensionIsAnOutageAndTheLeaseKeepsItsRemainingTime() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.EXTEND, new LockOutageException("no quorum", Map.of(), true));
    time.advance(Duration.ofSeconds(10));

    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockOutageException.class);
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(20));

    backend.healed();
    lease.extend(TTL);
    assertThat(lease.remaining()).isEqualTo(TTL);
  }

  @Test
  void extendingAReleasedLeaseIsRefusedAndSendsNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    assertThat(lease.release()).isTrue();
    assertThatThrownBy(() -> lease.extend(TTL))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("released");
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
  }

  @Test
  void extensionAboveTheMaximumTtlIsRefusedAndSendsNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    assertThatThrownBy(() -> lease.extend(Duration.ofSeconds(61)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("61s")
        .hasMessageContaining("60s");
    assertThat(failureOf(lease.extendAsync(Duration.ofSeconds(61))))
        .isInstanceOf(LockConfigurationException.class);
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void extensionsByZeroAreRefused() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    for (Duration ttl : new Duration[] {Duration.ZERO, Duration.ofSeconds(-1)}) {
      assertThatThrownBy(() -> lease.extend(ttl))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("ttl is " + ttl.toSeconds() + "s");
    }
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
  }

  @Test
  void anExtensionNeverGoesPastTheLongestHold() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofSeconds(40)));
    time.passUnnoticed(Duration.ofSeconds(15));
    lease.extend(TTL);
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(25));
    assertThat(backend.calls(Op.EXTEND).get(0).time()).isEqualTo(Duration.ofSeconds(25));

    time.passUnnoticed(Duration.ofSeconds(25));
    assertLost(lease, LossReason.MAX_HOLD);
  }

  @Test
  void anExtensionThatIsSentLateDoesNotGoPastTheLongestHoldEither() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofSeconds(40)));
    time.passUnnoticed(Duration.ofSeconds(15));
    backend.beforeEachCall(() -> time.passUnnoticed(Duration.ofSeconds(5)));
    lease.extend(TTL);
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(20));
    time.passUnnoticed(Duration.ofSeconds(20));
    assertLost(lease, LossReason.MAX_HOLD);
  }

  @Test
  void lateExtensionDoesNotRestoreValiditySpentAsleep() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofSeconds(40)));
    time.passUnnoticed(Duration.ofSeconds(15));
    time.moveWall(Duration.ofSeconds(-10));
    backend.beforeEachCall(() -> time.passUnnoticed(Duration.ofSeconds(5)));
    lease.extend(TTL);
    time.moveWall(Duration.ofSeconds(25));
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void lossReasonIsMaxHoldDespiteALaterShortExtension() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(Duration.ofSeconds(40)));
    time.passUnnoticed(Duration.ofSeconds(15));
    lease.extend(TTL);
    lease.extend(Duration.ofSeconds(1));
    time.passUnnoticed(Duration.ofSeconds(25));
    assertLost(lease, LossReason.MAX_HOLD);
  }

  @Test
  void extensionAtTheLongestHoldChangesNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST.keepAliveUpTo(TTL));
    time.passUnnoticed(TTL.minus(TICK));
    lease.extend(TTL);
    assertThat(backend.calls(Op.EXTEND)).as("no backend counts so little").isEmpty();
    assertThat(lease.remaining()).isEqualTo(TICK);
    time.passUnnoticed(TICK);
    assertLost(lease, LossReason.MAX_HOLD);
  }

  @Test
  void extensionsAreSentOneAtATime() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> first = lease.extendAsync(TTL);
    CompletableFuture<Void> second = lease.extendAsync(TTL);
    assertThat(backend.calls(Op.EXTEND)).hasSize(1);

    backend.next().answer();
    assertThat(first).isCompleted();
    assertThat(second).isNotDone();
    backend.next().answer();
    assertThat(second).isCompleted();
  }

  @Test
  void failedExtensionDoesNotBlockTheNext() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> first = lease.extendAsync(TTL);
    CompletableFuture<Void> second = lease.extendAsync(TTL);
    backend.next().fail(new IllegalStateException("a fault of the backend's"));
    assertThat(first).isCompletedExceptionally();
    backend.next().answer();
    assertThat(second).isCompleted();
  }

  @Test
  @Rule("EXT-9")
  @DisplayName("an extension that is not answered ends with its lease, which has expired")
  void anExtensionEndsWithItsLease() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    time.advance(TTL.minusNanos(1));
    assertThat(extension).isNotDone();
    time.advance(Duration.ofNanos(1));
    assertLost(extension, LossReason.EXPIRED);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  @Rule("RES-1")
  @DisplayName("each extension that ends with its lease has an exception of its own")
  void eachExtensionThatEndsWithItsLeaseHasItsOwnException() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.holdBack(Op.EXTEND);
    CompletableFuture<Void> first = lease.extendAsync(TTL);
    CompletableFuture<Void> second = lease.extendAsync(TTL);

    assertThat(lease.release()).isTrue();

    assertThat(first.handle((none, failure) -> failure).join())
        .isInstanceOf(IllegalStateException.class)
        .isNotSameAs(second.handle((none, failure) -> failure).join());
  }

  private static void assertLost(Lease lease, LossReason reason) {
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.onLoss()).isCompletedWithValue(reason);
  }

  private static void assertLost(CompletableFuture<Void> extension, LossReason reason) {
    assertThat(failureOf(extension))
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason));
  }
}
