package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that is released early keeps others out for the requested time, and no longer. */
public abstract class HoldAtLeastRules {
  final TckFixture fixture;

  public HoldAtLeastRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that releaseAsync(), close() and a second release keep holdAtLeast as well")
  void everyWayToGiveBackKeepsOthersOut() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    for (GivingBack way : GivingBack.values()) {
      Lease lease = fixture.take(locks, atLeast(fixture.name("at-least"), fixture.ttl()));
      way.giveBack(fixture, lease);

      assertThat(fixture.gets(other, lease.name())).as("got by another after %s", way).isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that an extension does not make a lease forget holdAtLeast")
  void anExtendedLeaseKeepsOthersOutToo() throws InterruptedException {
    fixture.needs(LockCapability.EXTENSION);
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
  @Rule("ACQ-11")
  @IfThisFails("check that a lock is not handed to a waiter before holdAtLeast is over")
  void whoWaitsInTheSameManagerIsKeptOutToo() {
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
    awaitPast(asked, atLeast);
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
  void nobodyIsKeptOutMuchLonger() {
    Duration atLeast = fixture.briefTtl();
    LockManager locks = fixture.open();
    LockManager other = fixture.open();

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Lease lease = fixture.take(locks, atLeast(fixture.name("at-least"), atLeast));
            long granted = System.nanoTime();
            TckFixture.regardless(lease::release);
            fixture.soon().until("others get the lock", () -> fixture.gets(other, lease.name()));

            assertThat(Elapsed.since(granted))
                .as("time from the grant to the next one")
                .isLessThan(atLeast.plus(fixture.allowance()).plus(stalls.worst()));
          }
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that holdAtLeast is counted from the grant, and not from the release")
  void whatIsReleasedAfterThatIsFreeAtOnce() throws InterruptedException {
    Duration atLeast = Duration.ofMillis(300);
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    Lease probe = fixture.take(locks, fixture.name("probe"), fixture.ttl());
    Lease lease = fixture.take(locks, atLeast(fixture.name("long-enough"), atLeast));
    awaitPast(System.nanoTime(), atLeast);
    TckFixture.regardless(probe::release);
    if (!fixture.gets(other, probe.name())) {
      AnotherRule.isBroken("a released lock is not free at once");
    }

    TckFixture.regardless(lease::release);

    assertThat(fixture.gets(other, lease.name())).as("got by another at once").isTrue();
  }

  private LockRequest atLeast(String name, Duration atLeast) {
    return LockRequest.of(name, fixture.ttl()).holdAtLeast(atLeast);
  }

  private void awaitPast(long since, Duration time) {
    fixture.soon().until("time passes", () -> Elapsed.since(since).compareTo(time) > 0);
  }
}
