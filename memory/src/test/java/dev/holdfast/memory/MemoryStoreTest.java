package dev.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The handle with which users test their reaction to a lost lock. */
class MemoryStoreTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final ManualClock clock = new ManualClock();
  @AutoClose private final LockManager manager = MemoryLocks.builder().clock(clock).open();
  private final MemoryStore store = manager.unwrap(MemoryStore.class).orElseThrow();

  @Test
  void aLockThatWasMadeToExpireIsFreeAndItsHolderFindsExpired() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    assertThat(store.expire("x")).isTrue();

    assertThat(manager.inspect("x")).isEmpty();
    assertThat(lease.isHeld()).as("the holder has not asked yet").isTrue();
    assertThat(lossFoundByExtending(lease)).isEqualTo(LossReason.EXPIRED);
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void aLockThatExpiredAndWasTakenSinceIsTaken() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    assertThat(store.expire("x")).isTrue();
    Lease next = manager.tryAcquire("x", TTL).orElseThrow();

    assertThat(lossFoundByExtending(lease)).isEqualTo(LossReason.TAKEN);
    assertThat(next.isHeld()).isTrue();
    next.extend(TTL);
  }

  @Test
  void releasedLockIsForgottenAfterItsHoldAtLeast() throws Exception {
    Duration least = Duration.ofSeconds(5);
    for (String name : List.of("a", "b")) {
      assertThat(manager.acquire(LockRequest.of(name, TTL).holdAtLeast(least)).release()).isTrue();
      assertThat(manager.inspect(name)).isPresent();
    }
    clock.advance(least);

    Lease next = manager.acquire("c", TTL);

    assertThat(store).extracting("holds", InstanceOfAssertFactories.MAP).containsOnlyKeys("c");
    assertThat(next.isHeld()).isTrue();
  }

  @Test
  void longHoldDoesNotDelayForgettingShorterOnes() throws Exception {
    Duration day = Duration.ofHours(24);
    assertThat(manager.acquire(LockRequest.of("day", TTL).holdAtLeast(day)).release()).isTrue();
    Duration least = Duration.ofSeconds(5);
    assertThat(manager.acquire(LockRequest.of("brief", TTL).holdAtLeast(least)).release()).isTrue();
    clock.advance(least);

    assertThat(manager.acquire("next", TTL).isHeld()).isTrue();
    assertThat(store)
        .extracting("holds", InstanceOfAssertFactories.MAP)
        .containsOnlyKeys("day", "next");
    clock.advance(day.minus(least).minusMillis(1));
    assertThat(manager.tryAcquire("day", TTL)).isEmpty();
    clock.advance(Duration.ofMillis(1));
    assertThat(manager.tryAcquire("day", TTL)).isPresent();
  }

  @Test
  void stolenLockBelongsToTheThiefAndItsHolderReportsTaken() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    store.steal("x", Duration.ofSeconds(5));

    assertThat(lossFoundByExtending(lease)).isEqualTo(LossReason.TAKEN);
    assertThat(manager.tryAcquire("x", TTL)).as("the loser released nothing").isEmpty();
    clock.advance(Duration.ofSeconds(5));
    assertThat(manager.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void releaseOfAStolenLockIsFalse() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    store.steal("x", TTL);
    assertThat(lease.release()).isFalse();
    assertThat(lease.release()).isFalse();
    assertThat(manager.tryAcquire("x", TTL)).isEmpty();
  }

  @Test
  void aFreeLockCanBeGivenToAnotherOwnerAndTakenFromIt() throws Exception {
    store.steal("x", TTL);
    assertThat(manager.tryAcquire("x", TTL)).isEmpty();
    assertThat(store.remove("x")).isTrue();
    assertThat(manager.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void aThiefsFencingTokenLiesBetweenThoseOfTheHoldersBeforeAndAfterIt() throws Exception {
    long before = manager.acquire("x", TTL).fencingToken().orElseThrow();
    store.steal("x", TTL);
    assertThat(store.remove("x")).isTrue();
    Lease next = manager.tryAcquire("x", TTL).orElseThrow();
    long after = next.fencingToken().orElseThrow();
    assertThat(after).isEqualTo(before + 2);
  }

  @Test
  void aRemovedLockIsFreeAndItsHolderFindsRemoved() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    assertThat(store.remove("x")).isTrue();
    assertThat(lossFoundByExtending(lease)).isEqualTo(LossReason.REMOVED);
    assertThat(manager.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void tokenOfTheHolderIsShownUntilTheLockEnds() throws Exception {
    assertThat(store.holder("x")).isEmpty();
    Lease lease = manager.acquire("x", TTL);
    assertThat(store.holder("x")).hasValue(lease.token());

    store.steal("x", "mine", TTL);
    assertThat(store.holder("x")).hasValue("mine");
    clock.advance(TTL);
    assertThat(store.holder("x")).isEmpty();
  }

  @Test
  void aLockThatIsGivenTheTokenOfALeaseIsHeldByItAgain() throws Exception {
    Lease lease = manager.acquire("x", TTL);
    assertThat(store.remove("x")).isTrue();
    store.steal("x", lease.token(), TTL);
    lease.extend(TTL);
    assertThat(lease.release()).isTrue();
    assertThat(store.holder("x")).isEmpty();
  }

  @Test
  void freeLockNeitherExpiresNorIsRemoved() throws Exception {
    assertThat(store.expire("x")).isFalse();
    assertThat(store.remove("x")).isFalse();
    manager.acquire("y", TTL);
    clock.advance(TTL);
    assertThat(store.expire("y")).isFalse();
    assertThat(store.remove("y")).isFalse();
  }

  @Test
  void theftForZeroTimeIsRefused() {
    assertThatThrownBy(() -> store.steal("x", Duration.ZERO))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("PT0S");
  }

  @Test
  void aTheftForLongerThanAnyManagerAllowsIsRefused() {
    store.steal("x", Duration.ofDays(365));
    for (Duration tooLong :
        new Duration[] {Duration.ofDays(365).plusNanos(1), ChronoUnit.FOREVER.getDuration()}) {
      assertThatThrownBy(() -> store.steal("y", tooLong))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("365 days");
    }
    assertThat(store.remove("y")).isFalse();
  }

  @Test
  void nextRenewalReportsTheTheft() throws Exception {
    Lease lease = manager.acquire(LockRequest.of("x", TTL).keepAliveUpTo(Duration.ofMinutes(1)));
    CompletableFuture<LossReason> lost = lease.onLoss();
    store.steal("x", TTL);
    clock.advance(TTL.dividedBy(3).minusMillis(1));
    assertThat(lease.isHeld()).as("before the renewal").isTrue();
    assertThat(lost).isNotDone();

    clock.advance(Duration.ofMillis(1));
    assertThat(lost).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(LossReason.TAKEN);
    assertThat(lease.isHeld()).isFalse();
  }

  private static LossReason lossFoundByExtending(Lease lease) {
    try {
      lease.extend(TTL);
    } catch (LockLostException lost) {
      return lost.reason();
    }
    throw new AssertionError("the extension found the lock still held");
  }
}
