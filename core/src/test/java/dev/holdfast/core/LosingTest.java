package dev.holdfast.core;

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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The ends of leases that were not released, and the loss that the holder sees. */
class LosingTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration TICK = Duration.ofNanos(1000);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);
  private static final LockRequest KEPT = REQUEST.keepAliveUpTo(Duration.ofMinutes(2));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void leaseWithoutRenewalExpires() throws Exception {
    assertEndsWith(manager.acquire(REQUEST), LossReason.EXPIRED, TTL);
  }

  @Test
  void nextRenewalOfAStolenLockReportsTaken() throws Exception {
    Lease lease = manager.acquire(KEPT);
    backend.giveToAnother("x", TTL);
    assertEndsWith(lease, LossReason.TAKEN, TTL.dividedBy(3));
    assertThat(backend.holder("x")).contains("another's");
  }

  @Test
  void nextRenewalOfARemovedLockReportsRemoved() throws Exception {
    Lease lease = manager.acquire(KEPT);
    backend.wipe("x");
    assertEndsWith(lease, LossReason.REMOVED, TTL.dividedBy(3));
  }

  @Test
  void leaseThatOutagesKeptFromRenewalIsUnreachable() throws Exception {
    Lease lease = manager.acquire(KEPT);
    backend.failing(Op.EXTEND, new LockOutageException("no quorum", Map.of(), true));
    assertEndsWith(lease, LossReason.UNREACHABLE, TTL);
  }

  @Test
  void leaseWhoseRenewalsAreRefusedIsUnreachable() throws Exception {
    Lease lease = manager.acquire(KEPT);
    backend.failing(Op.EXTEND, new LockConfigurationException("NOPERM"));
    assertEndsWith(lease, LossReason.UNREACHABLE, TTL);
  }

  @Test
  void earlierOutageDoesNotMakeALaterLossUnreachable() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.EXTEND, new LockOutageException("no quorum", Map.of(), true));
    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockOutageException.class);
    backend.healed();
    lease.extend(TTL);
    assertEndsWith(lease, LossReason.EXPIRED, TTL);
  }

  @Test
  void leaseAtItsLongestHoldEndsWithMaxHold() throws Exception {
    assertEndsWith(manager.acquire(KEPT), LossReason.MAX_HOLD, Duration.ofMinutes(2));
  }

  @Test
  void leaseOfAClosedManagerEndsWithClosed() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    CompletableFuture<LossReason> lost = lease.onLoss();
    manager.close();
    assertThat(lost).isCompletedWithValue(LossReason.CLOSED);
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.release()).isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @DisplayName("isHeld and remaining are exact though every thread is stuck")
  void isHeldAndRemainingAreExactThoughEveryThreadIsStuck() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.passUnnoticed(TTL.minus(TICK));
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.remaining()).isEqualTo(TICK);
    time.passUnnoticed(TICK);
    assertThat(lease.remaining()).isZero();
    assertThat(lease.isHeld()).isFalse();
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-4")
  @DisplayName("observing the end of a lease sends nothing")
  void observingTheEndOfALeaseSendsNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.passUnnoticed(TTL);
    assertThat(lease.isHeld()).isFalse();
    assertThat(backend.calls(Op.RELEASE)).isEmpty();
  }

  @Test
  void aMachineThatSleptHasLostItsLeases() throws Exception {
    Lease lease = manager.acquire(KEPT);
    CompletableFuture<LossReason> lost = lease.onLoss();
    time.moveWall(TTL);
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
  }

  @Test
  void nextTimerAfterASleepReportsTheLoss() throws Exception {
    Lease lease = manager.acquire(KEPT);
    CompletableFuture<LossReason> lost = lease.onLoss();
    time.moveWall(TTL);
    time.advance(TTL.dividedBy(3));
    assertThat(lost).isCompletedWithValue(LossReason.EXPIRED);
    assertThat(backend.calls(Op.EXTEND)).as("nothing is revived").isEmpty();
  }

  @Test
  void aShortSleepOfTheMachineCostsWhatItTook() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.moveWall(Duration.ofSeconds(10));
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(20));
  }

  @Test
  void settingTheWallClockBackLengthensNothing() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.moveWall(Duration.ofHours(-1));
    assertThat(lease.remaining()).isEqualTo(TTL);
    time.passUnnoticed(TTL);
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void lostLeaseStaysLostWhenTheWallClockIsSetBack() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.moveWall(TTL);
    assertThat(lease.isHeld()).isFalse();
    time.moveWall(TTL.negated());
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
  }

  @Test
  void lossIsReportedOnce() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    List<LossReason> notified = new CopyOnWriteArrayList<>();
    lease.onLoss().thenAccept(notified::add);
    backend.giveToAnother("x", Duration.ofHours(1));
    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
    time.advance(TTL);
    manager.close();
    assertThat(notified).containsExactly(LossReason.TAKEN);
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.TAKEN));
  }

  @Test
  void aUserCannotCompleteTheLossOfOthers() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    assertThat(lease.onLoss().complete(LossReason.CLOSED)).isFalse();
    assertThat(lease.onLoss()).isNotDone();
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void lostLockIsReleased() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    time.moveWall(TTL);
    assertThat(lease.isHeld()).isFalse();
    time.advance(Duration.ZERO);
    assertThat(backend.calls(Op.RELEASE)).hasSize(1);
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void lostLockIsKeptForItsHoldAtLeast() throws Exception {
    Lease lease = manager.acquire(REQUEST.holdAtLeast(Duration.ofSeconds(20)));
    time.passUnnoticed(Duration.ofSeconds(5));
    time.moveWall(TTL);
    assertThat(lease.isHeld()).isFalse();
    time.advance(Duration.ZERO);
    assertThat(backend.holder("x")).isPresent();
    time.passUnnoticed(Duration.ofSeconds(15));
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void failedReleaseOfALostLockIsNotThrown() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    backend.failing(Op.RELEASE, new LockOutageException("no quorum", Map.of(), true));
    time.advance(TTL);
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.release()).isFalse();
  }

  private void assertEndsWith(Lease lease, LossReason reason, Duration after) {
    CompletableFuture<LossReason> lost = lease.onLoss();
    time.advance(after.minus(TICK));
    assertThat(lost).isNotDone();
    assertThat(lease.isHeld()).isTrue();

    time.advance(TICK);
    assertThat(lost).isCompletedWithValue(reason);
    assertThat(lease.isHeld()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(reason));
    time.assertIdle();
  }
}
