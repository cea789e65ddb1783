package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is released early keeps others out for as long as was asked for, and no longer. */
abstract class HoldAtLeastRules {
  final Trial trial;

  HoldAtLeastRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that releaseAsync(), close() and a second release keep holdAtLeast as well")
  void everyWayToGiveBackKeepsOthersOut() throws InterruptedException {
    LockManager locks = trial.open();
    LockManager other = trial.open();

    for (GivingBack way : GivingBack.values()) {
      Lease lease = trial.take(locks, atLeast(trial.name("at-least"), trial.ttl()));
      way.giveBack(trial, lease);

      assertThat(trial.gets(other, lease.name())).as("got by another after %s", way).isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that an extension does not make a lease forget holdAtLeast")
  void anExtendedLeaseKeepsOthersOutToo() throws InterruptedException {
    trial.needs(LockCapability.EXTENSION);
    Lease lease = trial.take(trial.open(), atLeast(trial.name("extended"), trial.ttl()));
    Trial.regardless(() -> lease.extend(trial.ttl()));

    Trial.regardless(lease::release);

    assertThat(trial.gets(trial.open(), lease.name())).as("got by another").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that the end of a manager does not end what its leases keep from others")
  void aClosedManagerKeepsOthersOutToo() throws InterruptedException {
    LockManager locks = trial.open();
    LockManager other = trial.open();
    Lease released = trial.take(locks, atLeast(trial.name("released"), trial.ttl()));
    Trial.regardless(released::release);

    locks.close();

    assertThat(trial.gets(other, released.name())).as("got what was released early").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that a lock is not handed to a waiter before holdAtLeast is over")
  void whoWaitsInTheSameManagerIsKeptOutToo() {
    Duration atLeast = trial.briefTtl();
    LockManager locks = trial.open();
    String name = trial.name("in-line");
    long asked = System.nanoTime();
    Lease lease = trial.take(locks, atLeast(name, atLeast));
    CompletableFuture<Long> next =
        locks
            .tryAcquireAsync(LockRequest.of(name, trial.ttl()).waitForever())
            .thenApply(granted -> System.nanoTime());

    Trial.regardless(lease::release);
    trial.awaitRegardless("the waiter gets it", next::isDone);
    if (!next.isDone() || next.isCompletedExceptionally()) {
      abort("a waiter does not get a lock that is free, which is another rule's");
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
    Duration atLeast = trial.briefTtl().multipliedBy(2);
    LockManager locks = trial.open();
    LockManager other = trial.open();
    Lease before = trial.take(other, trial.name("waited-for"), trial.ttl());
    long asked = System.nanoTime();
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(atLeast(before.name(), atLeast).waitForever());
    awaitPast(asked, atLeast);
    long free = System.nanoTime();
    Trial.regardless(before::release);
    trial.awaitRegardless("the waiter gets it", waiter::isDone);
    if (!waiter.isDone() || waiter.isCompletedExceptionally()) {
      abort("a waiter does not get a lock that is free, which is another rule's");
    }

    waiter.join().ifPresent(lease -> Trial.regardless(lease::release));
    trial.soon().until("others get the lock", () -> trial.gets(other, before.name()));

    assertThat(Elapsed.since(free))
        .as("time from before the grant to the next one")
        .isGreaterThanOrEqualTo(atLeast);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that an early release leaves the lock no longer than holdAtLeast")
  void nobodyIsKeptOutMuchLonger() {
    Duration atLeast = trial.briefTtl();
    LockManager locks = trial.open();
    LockManager other = trial.open();

    Tries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Lease lease = trial.take(locks, atLeast(trial.name("at-least"), atLeast));
            long granted = System.nanoTime();
            Trial.regardless(lease::release);
            trial.soon().until("others get the lock", () -> trial.gets(other, lease.name()));

            assertThat(Elapsed.since(granted))
                .as("time from the grant to the next one")
                .isLessThan(atLeast.plus(trial.allowance()).plus(stalls.worst()));
          }
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-11")
  @IfThisFails("check that holdAtLeast is counted from the grant, and not from the release")
  void whatIsReleasedAfterThatIsFreeAtOnce() throws InterruptedException {
    Duration atLeast = Duration.ofMillis(300);
    LockManager locks = trial.open();
    LockManager other = trial.open();
    Lease probe = trial.take(locks, trial.name("probe"), trial.ttl());
    Lease lease = trial.take(locks, atLeast(trial.name("long-enough"), atLeast));
    awaitPast(System.nanoTime(), atLeast);
    Trial.regardless(probe::release);
    if (!trial.gets(other, probe.name())) {
      abort("a released lock is not free at once, which is another rule's");
    }

    Trial.regardless(lease::release);

    assertThat(trial.gets(other, lease.name())).as("got by another at once").isTrue();
  }

  private LockRequest atLeast(String name, Duration atLeast) {
    return LockRequest.of(name, trial.ttl()).holdAtLeast(atLeast);
  }

  private void awaitPast(long since, Duration time) {
    trial.soon().until("time passes", () -> Elapsed.since(since).compareTo(time) > 0);
  }
}
