package dev.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** An outage that a test injects: no request is answered. */
class MemoryOutageTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final ManualClock clock = new ManualClock();
  @AutoClose private final LockManager locks = MemoryLocks.builder().clock(clock).open();
  private final MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();

  @Test
  void aRequestFailsWithAnOutageThatNamesTheCause() throws Exception {
    store.outage(true);
    assertOutage(() -> locks.tryAcquire("x", TTL), false);

    store.outage(false);
    assertThat(locks.tryAcquire("x", TTL)).as("nothing is left of the attempt").isPresent();
  }

  @Test
  void aWaiterHasTheLockAfterTheOutage() {
    store.outage(true);
    CompletableFuture<Optional<Lease>> waiting =
        locks.tryAcquireAsync(LockRequest.of("x", TTL).waitForever());
    clock.advance(TTL);
    assertThat(waiting).isNotDone();

    store.outage(false);
    clock.advance(Duration.ofMillis(10));
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void aLeaseStaysHeldForItsTimeAlthoughNoExtensionIsAnswered() throws Exception {
    Lease lease = locks.acquire("x", TTL);
    clock.advance(Duration.ofSeconds(10));
    store.outage(true);

    assertOutage(() -> lease.extend(TTL), true);
    assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(20));
    clock.advance(Duration.ofSeconds(20));
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.UNREACHABLE);
  }

  @Test
  void aLeaseThatIsKeptAliveIsLostAsUnreachableUnlessTheOutageEndsInTime() throws Exception {
    LockRequest request = LockRequest.of("x", TTL).keepAliveUpTo(Duration.ofHours(1));
    Lease lease = locks.acquire(request);
    store.outage(true);
    clock.advance(TTL.minusSeconds(1));
    store.outage(false);
    clock.advance(TTL);
    assertThat(lease.isHeld()).isTrue();

    store.outage(true);
    clock.advance(TTL);
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.UNREACHABLE);
  }

  @Test
  void aReleaseThatIsNotAnsweredLeavesTheLockTakenUntilItsTtl() throws Exception {
    Lease lease = locks.acquire("x", TTL);
    store.outage(true);
    assertOutage(lease::release, true);
    assertThat(lease.isHeld()).isFalse();

    store.outage(false);
    assertThat(locks.tryAcquire("x", TTL)).isEmpty();
    clock.advance(TTL);
    assertThat(locks.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void aTransferThatIsNotAnsweredLeavesTheLeaseHeld() throws Exception {
    Lease lease = locks.acquire("x", TTL);
    store.outage(true);

    assertOutage(() -> lease.transfer(TTL), true);

    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("TRANSFER-7")
  @DisplayName("an adoption during an outage ends the transfer, as it does with nodes")
  void anAdoptionThatIsNotAnsweredEndsItsTransfer() throws Exception {
    LockRequest request = LockRequest.of("x", TTL);
    String text = locks.acquire(request).transfer(TTL);
    store.outage(true);
    assertOutage(() -> locks.adopt(text, request), false);
    assertThat(locks.leases()).isEmpty();

    store.outage(false);
    assertThatThrownBy(() -> locks.adopt(text, request))
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.REMOVED));
    assertThat(locks.tryAcquire(request)).as("the lock is free").isPresent();
  }

  @Test
  void inspectionAndForcedReleaseReportTheOutage() {
    store.outage(true);
    assertOutage(() -> locks.inspect("x"), false);
    assertOutage(() -> locks.forceRelease("x"), true);
  }

  @Test
  void theHandleWorksDuringAnOutage() throws Exception {
    store.outage(true);
    store.steal("x", TTL);
    assertThat(store.holder("x")).isPresent();
    store.outage(false);
    assertThat(locks.tryAcquire("x", TTL)).isEmpty();
  }

  @Test
  void allManagersOfAStoreHaveTheSameOutage() {
    store.outage(true);
    try (LockManager other = MemoryLocks.builder().store(store).open()) {
      assertOutage(() -> other.tryAcquire("x", TTL), false);
    }
  }

  private static void assertOutage(ThrowingCallable call, boolean outcomeUnknown) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            LockOutageException.class,
            e -> {
              assertThat(e.isOutcomeUnknown()).isEqualTo(outcomeUnknown);
              assertThat(e.failures()).containsOnlyKeys("memory");
            })
        .hasMessageContaining("'x'")
        .hasMessageContaining("no quorum")
        .hasMessageContaining("outage(true)");
  }
}
