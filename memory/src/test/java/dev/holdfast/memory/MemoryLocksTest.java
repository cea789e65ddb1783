package dev.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.DURATION;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.AttemptProgress;
import dev.holdfast.core.LockPrimitive;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two managers on one store, whose clock moves only by hand. */
class MemoryLocksTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration TICK = Duration.ofNanos(1);

  private final ManualClock clock = new ManualClock();
  private final LockManager one = MemoryLocks.builder().clock(clock).ownerLabel("one").open();
  private final LockManager two =
      MemoryLocks.builder().store(one.unwrap(MemoryStore.class).orElseThrow()).open();

  @AfterEach
  void close() {
    one.close();
    two.close();
  }

  @Test
  void aGrantDoesNotShowItsToken() {
    LockPrimitive primitive = one.unwrap(LockPrimitive.class).orElseThrow();
    LockPrimitive.Attempt attempt =
        new LockPrimitive.Attempt("x", "one", TTL, new AttemptProgress());
    LockPrimitive.Grant grant = (LockPrimitive.Grant) primitive.attempt(attempt).join();

    assertThat(LockPrimitive.Release.deletionOf(grant).toString())
        .contains("x")
        .doesNotContain(grant.token());
  }

  @Test
  void aLockIsHeldUntilItsTtlHasPassedToTheNanosecond() throws Exception {
    Lease lease = one.acquire("x", TTL);
    assertThat(lease.remaining()).isEqualTo(TTL);

    clock.advance(TTL.minusMillis(1));
    assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(1));
    assertThat(lease.isHeld()).isTrue();
    assertThat(two.tryAcquire("x", TTL)).isEmpty();

    clock.advance(Duration.ofMillis(1).minus(TICK));
    assertThat(two.tryAcquire("x", TTL)).isEmpty();

    clock.advance(TICK);
    assertThat(two.tryAcquire("x", TTL)).isPresent();
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void aLeaseNeverEndsAfterItsLock() throws Exception {
    Lease lease = one.acquire("x", TTL);
    clock.advance(TTL.minus(TICK));
    assertThat(two.tryAcquire("x", TTL)).isEmpty();
    clock.advance(TICK);
    assertThat(lease.remaining()).isZero();
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  void settingTheWallClockAheadEndsTheLeaseButFreesNoLock() throws Exception {
    Lease lease = one.acquire("x", TTL);

    clock.moveWallClock(Duration.ofHours(1));
    assertThat(two.tryAcquire("x", TTL)).isEmpty();
    clock.moveWallClock(Duration.ofHours(-1));
    assertThat(lease.isHeld()).isTrue();

    clock.moveWallClock(Duration.ofHours(1));
    assertThat(lease.isHeld()).isFalse();
    await("what was lost is given back").until(() -> two.tryAcquire("x", TTL).isPresent());
  }

  @Test
  void releaseFreesTheLockAndDoesNotAffectTheNextHolder() throws Exception {
    Lease mine = one.acquire("x", TTL);
    assertThat(mine.release()).isTrue();
    Lease theirs = two.acquire("x", TTL);

    assertThat(mine.release()).isTrue();
    assertThat(theirs.isHeld()).isTrue();
    assertThat(one.tryAcquire("x", TTL)).isEmpty();
  }

  @Test
  void expiredLeaseDoesNotReleaseTheNextHolder() throws Exception {
    Lease late = one.acquire("x", TTL);
    clock.advance(TTL);
    Lease theirs = two.acquire("x", TTL);

    assertThat(late.release()).isFalse();
    assertThat(one.tryAcquire("x", TTL)).isEmpty();
    assertThat(theirs.release()).isTrue();
  }

  @Test
  void fencingTokensIncreaseFromGrantToGrantHoweverTheLastOneEnded() throws Exception {
    MemoryStore store = one.unwrap(MemoryStore.class).orElseThrow();
    List<Long> fences = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Lease lease = (i % 2 == 0 ? one : two).acquire("x", TTL);
      fences.add(lease.fencingToken().orElseThrow());
      switch (i) {
        case 0 -> assertThat(lease.release()).isTrue();
        case 1 -> clock.advance(TTL);
        case 2 -> assertThat(store.expire("x")).isTrue();
        case 3 -> assertThat(one.forceRelease("x")).isTrue();
        default -> lease.close();
      }
    }
    assertThat(fences).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void everyGrantHasItsOwnToken() throws Exception {
    HashSet<String> tokens = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      try (Lease lease = one.acquire("x", TTL)) {
        assertThat(lease.token()).matches("one:[0-9a-f]{40}");
        tokens.add(lease.token());
      }
    }
    assertThat(tokens).hasSize(100);
  }

  @Test
  void anExtensionReachesExactlyTheNewTtlFromNow() throws Exception {
    Lease lease = one.acquire("x", TTL);
    clock.advance(Duration.ofSeconds(20));
    lease.extend(TTL);
    assertThat(lease.remaining()).isEqualTo(TTL);

    clock.advance(TTL.minus(TICK));
    assertThat(two.tryAcquire("x", TTL)).isEmpty();
    clock.advance(TICK);
    assertThat(lease.isHeld()).isFalse();
    assertThat(two.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void anExtensionNeverShortens() throws Exception {
    Lease lease = one.acquire("x", TTL);
    lease.extend(Duration.ofSeconds(1));
    assertThat(lease.remaining()).isEqualTo(TTL);
    clock.advance(Duration.ofSeconds(1));
    assertThat(two.tryAcquire("x", TTL)).isEmpty();
  }

  @Test
  void anExtensionDoesNotReviveWhatAnotherManagerRemoved() throws Exception {
    Lease lease = one.acquire("x", TTL);
    assertThat(two.forceRelease("x")).isTrue();

    assertThatThrownBy(() -> lease.extend(TTL))
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.REMOVED));
    assertThat(two.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void heldAtLeastKeepsOthersOutAfterTheReleaseForExactlyThatLong() throws Exception {
    LockRequest request = LockRequest.of("x", TTL).holdAtLeast(Duration.ofSeconds(10));
    Lease lease = one.acquire(request);
    clock.advance(Duration.ofSeconds(4));
    assertThat(lease.release()).isTrue();
    assertThat(lease.isHeld()).isFalse();

    clock.advance(Duration.ofSeconds(6).minus(TICK));
    assertThat(two.tryAcquire("x", TTL)).isEmpty();
    clock.advance(TICK);
    assertThat(two.tryAcquire("x", TTL)).isPresent();
  }

  @Test
  void inspectionShowsTheHolderAndTheRemainingTime() throws Exception {
    assertThat(two.inspect("x")).isEmpty();
    Lease lease = one.acquire(LockRequest.of("x", TTL).ownerLabel("alice"));
    clock.advance(Duration.ofSeconds(10));
    assertThat(two.inspect("x"))
        .contains(new LockStatus("x", "alice", Duration.ofSeconds(20), new LockVotes(1, 0, 0)));
    assertThat(lease.release()).isTrue();
    assertThat(two.inspect("x")).isEmpty();
  }

  @Test
  void expiredLockIsNeitherInspectedNorForceReleased() throws Exception {
    one.acquire("x", TTL);
    clock.advance(TTL);
    assertThat(two.inspect("x")).isEmpty();
    assertThat(two.forceRelease("x")).isFalse();
  }

  @Test
  void waiterOfAnotherManagerAcquiresAfterTheRelease() throws Exception {
    try (LockManager here = MemoryLocks.builder().open();
        LockManager there =
            MemoryLocks.builder().store(here.unwrap(MemoryStore.class).orElseThrow()).open()) {
      Lease lease = here.acquire("x", TTL);
      CompletableFuture<Optional<Lease>> waiting =
          there.tryAcquireAsync(LockRequest.of("x", TTL).waitForever());
      assertThat(lease.release()).isTrue();
      assertThat(waiting.get(10, TimeUnit.SECONDS)).isPresent();
    }
  }

  @Test
  void waiterPollsAtLeastEvery10Ms() throws Exception {
    RecordingScheduler timers = new RecordingScheduler();
    Lease lease = one.acquire("x", TTL);
    try (LockManager waiting =
        MemoryLocks.builder()
            .store(one.unwrap(MemoryStore.class).orElseThrow())
            .scheduler(timers)
            .callbacks(Runnable::run)
            .open()) {
      CompletableFuture<Optional<Lease>> got =
          waiting.tryAcquireAsync(LockRequest.of("x", TTL).waitForever());
      assertThat(timers.delays())
          .singleElement(DURATION)
          .isBetween(Duration.ofMillis(5), Duration.ofMillis(10));
      assertThat(lease.release()).isTrue();
      assertThat(got).isNotDone();
      timers.runSoonest();
      assertThat(got).isCompletedWithValueMatching(Optional::isPresent);
    }
  }

  @Test
  void contentionReportsOneRefusal() throws Exception {
    one.acquire("x", TTL);
    assertThatThrownBy(() -> two.acquire(LockRequest.of("x", TTL).waitAtMost(Duration.ZERO)))
        .isInstanceOfSatisfying(
            LockContendedException.class,
            e -> {
              assertThat(e.votes().granted()).isZero();
              assertThat(e.votes().refused()).isOne();
              assertThat(e.votes().unanswered()).isZero();
            });
  }

  @Test
  void aManagerThatIsClosedLeavesItsLocksToExpire() throws Exception {
    Lease lease = one.acquire("x", TTL);
    one.close();
    assertThat(lease.isHeld()).isFalse();
    assertThat(two.tryAcquire("x", TTL)).isEmpty();
    clock.advance(TTL);
    assertThat(two.tryAcquire("x", TTL)).isPresent();
  }
}
