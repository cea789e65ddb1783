package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that is released keeps others out for the requested time, and no longer. */
public abstract class HoldAtLeastRules {
  /** Up to the longest. 36 minutes are more microseconds than an int holds. */
  private static final List<Duration> LONG =
      List.of(Duration.ofMinutes(36), Duration.ofHours(1), Duration.ofHours(24));

  final TckFixture fixture;

  public HoldAtLeastRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that releaseAsync(), close() and a second release keep holdAtLeast as well")
  void everyWayToReleaseKeepsOthersOut() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    for (ReleaseWay way : ReleaseWay.values()) {
      Lease lease = fixture.take(locks, atLeast(fixture.name("at-least"), fixture.ttl()));
      way.release(fixture, lease);

      assertThat(fixture.gets(other, lease.name())).as("got by another after %s", way).isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that a task which throws ends its lease as one that returns does")
  void aTaskThatThrowsKeepsOthersOutToo() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    for (FailingTask task : FailingTask.all()) {
      LockRequest executed = atLeast(fixture.name("executed"), fixture.ttl());
      LockRequest tried = atLeast(fixture.name("tried"), fixture.ttl());
      Throwable byExecuted = catchThrowable(() -> locks.executeLocked(executed, task));
      Throwable byTried = catchThrowable(() -> locks.tryExecuteLocked(tried, task));
      if (byExecuted != task.failure() || byTried != task.failure()) {
        AnotherRule.isBroken("a task's failure is thrown as " + byExecuted + " and " + byTried);
      }

      for (LockRequest request : List.of(executed, tried)) {
        assertThat(fixture.gets(other, request.name()))
            .as("got by another after %s", task)
            .isFalse();
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that an extension does not make a lease forget holdAtLeast")
  void anExtendedLeaseKeepsOthersOutToo() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    Lease lease = fixture.take(fixture.open(), atLeast(fixture.name("extended"), fixture.ttl()));
    TckFixture.regardless(() -> lease.extend(fixture.ttl()));

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(fixture.open(), lease.name())).as("got by another").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that the end of a manager does not end what its leases keep from others")
  void aClosedManagerKeepsOthersOutToo() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease released = fixture.take(locks, atLeast(fixture.name("released"), fixture.ttl()));
    TckFixture.regardless(released::release);

    locks.close();

    assertThat(fixture.gets(other, released.name()))
        .as("got a lock that was released early")
        .isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-1")
  @IfThisFails("check that no timer of an ended lease removes the lock of a later owner")
  void theTtlOfAReleasedLeaseEndsNoLaterOwnersLock() throws InterruptedException {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    String name = fixture.name("at-least");
    LockRequest request =
        LockRequest.of(name, fixture.briefTtl()).holdAtLeast(fixture.briefTtl().dividedBy(3));
    long begun = System.nanoTime();
    TckFixture.regardless(fixture.take(locks, request)::release);
    Attempts.untilGotAgain(fixture, other, name);
    fixture.awaitPast(begun, fixture.briefTtl().multipliedBy(2));

    assertThat(fixture.gets(locks, name)).as("got by another while it is held").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-6")
  @IfThisFails("check that keys that an extension put back are not kept because of holdAtLeast")
  void anExtensionThatIsLostLeavesNoKeyWhateverItsLeaseIsToKeep() {
    Needs.of(fixture, LockCapability.EXTENSION, LockCapability.HOLD_AT_LEAST);
    Needs.nodes(fixture, 1);
    String name = fixture.name("removed");
    Lease lease = OnNodes.take(fixture, fixture.open(), atLeast(name, fixture.ttl()));
    fixture.nodes().forEach(node -> node.remove(name));

    TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    if (lease.isHeld()) {
      AnotherRule.isBroken("a lock without keys is not taken for a loss");
    }

    OnNodes.awaitFree(fixture, name);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that a lock is not handed to a waiter before holdAtLeast is over")
  void aWaiterOfTheSameManagerIsKeptOutToo() {
    Duration atLeast = fixture.briefTtl();
    LockManager locks = fixture.open();
    String name = fixture.name("in-line");
    long asked = System.nanoTime();
    Lease lease = fixture.take(locks, atLeast(name, atLeast));
    CompletableFuture<Long> next =
        locks
            .tryAcquireAsync(LockRequest.of(name, fixture.ttl()).waitForever())
            .thenApply(granted -> System.nanoTime());

    TckFixture.regardless(lease::release);
    fixture.awaitRegardless("the waiter gets it", next::isDone);
    if (!next.isDone() || next.isCompletedExceptionally()) {
      AnotherRule.isBroken("a waiter does not get a lock that is free");
    }

    assertThat(Duration.ofNanos(next.join() - asked))
        .as("time from the first request to the waiter's grant")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that holdAtLeast is counted from the grant, and not from the call that waits")
  void theTimeBeforeTheGrantDoesNotCount() {
    Duration atLeast = fixture.briefTtl().multipliedBy(2);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease before = fixture.take(other, fixture.name("waited-for"), fixture.ttl());
    long asked = System.nanoTime();
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(atLeast(before.name(), atLeast).waitForever());
    fixture.awaitPast(asked, atLeast);
    long free = System.nanoTime();
    TckFixture.regardless(before::release);
    fixture.awaitRegardless("the waiter gets it", waiter::isDone);
    if (!waiter.isDone() || waiter.isCompletedExceptionally()) {
      AnotherRule.isBroken("a waiter does not get a lock that is free");
    }

    waiter.join().ifPresent(lease -> TckFixture.regardless(lease::release));
    fixture.soon().until("others get the lock", () -> fixture.gets(other, before.name()));

    assertThat(Elapsed.since(free))
        .as("time from before the grant to the next one")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that an early release leaves the lock no longer than holdAtLeast")
  void noOwnerIsKeptOutMuchLonger() {
    Duration atLeast = fixture.briefTtl();
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Lease lease = fixture.take(locks, atLeast(fixture.name("at-least"), atLeast));
            long granted = System.nanoTime();
            TckFixture.regardless(lease::release);

            assertThat(
                    Duration.ofNanos(Attempts.beginOfGrant(fixture, other, lease.name()) - granted))
                .as("time from the grant to the next one")
                .isLessThan(atLeast.plus(fixture.allowance()).plus(stalls.worst()));
          }
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that holdAtLeast is counted from the grant, and not from the release")
  void aLockThatIsReleasedAfterItsMinimumIsFreeAtOnce() throws InterruptedException {
    Duration atLeast = Duration.ofMillis(300);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease lease = fixture.take(locks, atLeast(fixture.name("long-enough"), atLeast));
    fixture.awaitPast(System.nanoTime(), atLeast);
    requireFreeAtOnce(locks, other);

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(other, lease.name())).as("got by another at once").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @IfThisFails("check that a release lengthens the lock if holdAtLeast is longer than what is left")
  void aHoldMayOutlastTheTtl() throws InterruptedException {
    Duration ttl = fixture.briefTtl();
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    AtomicReference<Lease> released = new AtomicReference<>();
    AtomicLong asked = new AtomicLong();
    fixture
        .soon()
        .until(
            "a lease is released before its validity ends",
            () -> {
              LockRequest request =
                  LockRequest.of(fixture.name("long"), ttl).holdAtLeast(ttl.multipliedBy(4));
              asked.set(System.nanoTime());
              Lease lease = fixture.take(locks, request);
              released.set(lease);
              return isReleased(lease);
            });

    String name = Objects.requireNonNull(released.get()).name();
    fixture.soon().until("the hold is over", () -> fixture.gets(other, name));

    assertThat(Elapsed.since(asked.get()))
        .as("time from the request to the next grant")
        .isGreaterThanOrEqualTo(ttl.multipliedBy(4).minusMillis(2));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @IfThisFails("check that holdAtLeast may exceed maxTtl")
  void aHoldMayOutlastTheLongestTtl() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    for (Duration atLeast : LONG) {
      Lease lease = fixture.take(locks, atLeast(fixture.name("long"), atLeast));

      boolean isReleased = lease.release();

      assertThat(isReleased).isTrue();
      assertThat(fixture.gets(other, lease.name()))
          .as("got by another, though held for %s", atLeast)
          .isFalse();
      if (!fixture.nodes().isEmpty()) {
        assertThat(fixture.nodes())
            .filteredOn(node -> isNear(node.timeToLive(lease.name()), atLeast))
            .as("nodes that keep it for %s once its release was answered", atLeast)
            .hasSizeGreaterThanOrEqualTo(fixture.quorum());
      }
      for (TckNode node : fixture.nodes()) {
        if (node.holder(lease.name()).isPresent()) { // nodes beyond the quorum may be late
          fixture.soon().untilAsserted(() -> assertKept(node.timeToLive(lease.name()), atLeast));
        }
      }
      if (fixture.declares(LockCapability.INSPECTION)) {
        other.inspect(lease.name()).ifPresent(seen -> assertKept(seen.remaining(), atLeast));
      }
      TckFixture.regardless(() -> other.forceRelease(lease.name()));
    }
  }

  private static void assertKept(Duration left, Duration atLeast) {
    assertThat(left)
        .as("life of a lock that is held for %s", atLeast)
        .matches(life -> isNear(life, atLeast));
  }

  private static boolean isNear(Duration left, Duration atLeast) {
    return left.minus(atLeast).abs().compareTo(Duration.ofMinutes(1)) < 0;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @IfThisFails("check that a lock is acquired for its ttl, whatever holdAtLeast is")
  void aHolderThatDoesNotReleaseKeepsOthersOutForTheTtlOnly() {
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    LockRequest plain = LockRequest.of(fixture.name("left"), fixture.briefTtl());
    Lease probe = fixture.take(locks, plain);
    Lease left =
        fixture.take(
            locks,
            LockRequest.of(fixture.name("left"), fixture.briefTtl())
                .holdAtLeast(Duration.ofHours(1)));
    if (!isSoonFree(other, probe.name())) {
      AnotherRule.isBroken("a lock that is not released does not expire");
    }

    assertThat(isSoonFree(other, left.name()))
        .as("others get the lock after the ttl of a lease that is not released")
        .isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-21")
  @IfThisFails("check that the end of a lost lease lengthens no key, although keys are left")
  void theEndOfALostLeaseLengthensNothing() {
    TckClock clock = Needs.clock(fixture);
    Needs.nodes(fixture, 1);
    Lease lease =
        OnNodes.take(
            fixture, fixture.open(), atLeast(fixture.name("lost"), fixture.ttl().multipliedBy(10)));

    clock.step(fixture.ttl());
    if (lease.isHeld()) {
      AnotherRule.isBroken("a lease outlasts the wall clock's end of its validity");
    }

    assertThat(
            Attempts.stays(
                () ->
                    fixture.nodes().stream()
                        .map(node -> node.timeToLive(lease.name()))
                        .allMatch(left -> left.compareTo(fixture.ttl()) <= 0)))
        .as("the lock lives no longer than its ttl on all nodes")
        .isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-22")
  @IfThisFails("check that a release keeps what Lease.holdAtLeast set, not what the request did")
  void aNewMinimumMayBeLonger() throws InterruptedException {
    Lease lease = fixture.take(fixture.open(), fixture.name("longer"), fixture.ttl());

    lease.holdAtLeast(fixture.ttl().dividedBy(2));
    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(fixture.open(), lease.name())).as("got by another").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-22")
  @IfThisFails("check that Lease.holdAtLeast may shorten what the request set")
  void aNewMinimumMayBeShorter() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease lease = fixture.take(locks, atLeast(fixture.name("shorter"), fixture.ttl()));
    lease.holdAtLeast(Duration.ZERO);
    requireFreeAtOnce(locks, other);

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(other, lease.name())).as("got by another at once").isTrue();
  }

  @Test
  @Rule("ACQ-22")
  @IfThisFails("check that each call of Lease.holdAtLeast replaces what the one before it set")
  void aNewMinimumMayBeReplaced() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease lease = fixture.take(locks, fixture.name("replaced"), fixture.ttl());
    lease.holdAtLeast(fixture.ttl());
    lease.holdAtLeast(Duration.ZERO);
    requireFreeAtOnce(locks, other);

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(other, lease.name())).as("got by another at once").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-22")
  @IfThisFails("check that the new minimum counts from the call, not from the grant")
  void aNewMinimumCountsFromTheCall() {
    Duration atLeast = fixture.briefTtl().multipliedBy(2);
    LockManager other = fixture.open();
    Lease lease = fixture.take(fixture.open(), fixture.name("from-now"), fixture.ttl());
    fixture.awaitPast(System.nanoTime(), atLeast);
    long set = System.nanoTime();

    lease.holdAtLeast(atLeast);
    TckFixture.regardless(lease::release);
    fixture.soon().until("others get the lock", () -> fixture.gets(other, lease.name()));

    assertThat(Elapsed.since(set))
        .as("time from the new minimum to the next grant")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Rule("ACQ-22")
  @IfThisFails("check that a minimum is refused above 24 hours, and for a lease that is over")
  void aNewMinimumIsRefusedIfItIsTooLongOrTooLate() {
    Lease lease = fixture.take(fixture.open(), fixture.name("refused"), fixture.ttl());

    assertThatThrownBy(() -> lease.holdAtLeast(Duration.ofDays(365)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("24 hours");
    TckFixture.regardless(lease::release);
    assertThatThrownBy(() -> lease.holdAtLeast(Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class);
  }

  private static boolean isReleased(Lease lease) {
    try {
      return lease.release();
    } catch (LockException e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  private boolean isSoonFree(LockManager other, String name) {
    try {
      fixture.soon().until(name + " is free", () -> fixture.gets(other, name));
      return true;
    } catch (AssertionError never) {
      IgnoredFailures.add(never);
      return false;
    }
  }

  private void requireFreeAtOnce(LockManager locks, LockManager other) throws InterruptedException {
    Lease probe = fixture.take(locks, fixture.name("probe"), fixture.ttl());
    TckFixture.regardless(probe::release);
    if (!fixture.gets(other, probe.name())) {
      AnotherRule.isBroken("a released lock is not free at once");
    }
  }

  private LockRequest atLeast(String name, Duration atLeast) {
    return LockRequest.of(name, fixture.ttl()).holdAtLeast(atLeast);
  }
}
