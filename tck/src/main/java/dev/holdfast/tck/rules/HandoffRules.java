package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assertions.fail;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A manager that holds a lock hands it to its own next waiter, which need not poll. */
public abstract class HandoffRules {
  /** More than follow each other without a pause, twice. */
  private static final int LINE = 20;

  private static final int ROUNDS = 20;

  private static final Duration LONG = Duration.ofHours(1);

  final TckFixture fixture;

  public HandoffRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that releaseAsync(), close() and executeLocked wake the next waiter as well")
  void everyWayToGiveBackHandsTheLockToTheNext() throws Exception {
    assertServedWithoutPolling(
        locks -> {
          List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
          for (GivingBack way : GivingBack.values()) {
            Lease held = fixture.take(locks, fixture.name("handed"), fixture.ttl());
            waiters.add(waiting(locks, held.name()));
            way.giveBack(fixture, held);
          }
          LockRequest request = fixture.request(fixture.name("task"));
          locks.executeLocked(request, lease -> waiters.add(waiting(locks, request.name())));
          return waiters;
        });
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that a manager continues handoffs after it has let others try")
  void aLongLineIsServedWithoutPolling() throws Exception {
    assertServedWithoutPolling(
        locks -> {
          Lease held = fixture.take(locks, fixture.name("line"), fixture.ttl());
          List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
          for (int i = 0; i < LINE; i++) {
            GivingBack way = i % 2 == 0 ? GivingBack.CLOSE : GivingBack.RELEASE;
            CompletableFuture<Optional<Lease>> waiter = waiting(locks, held.name());
            waiter.thenAccept(lease -> lease.ifPresent(got -> way.giveBack(fixture, got)));
            waiters.add(waiter);
          }
          TckFixture.regardless(held::release);
          return waiters;
        });
  }

  @Test
  @Rule("WAIT-10")
  @IfThisFails("check that a lock which was handed to a waiter that is gone goes to the next one")
  void aWaiterThatGoesAsItIsServedLeavesTheLockToTheNext() throws Exception {
    Seed seed = new Seed();
    assertServedWithoutPolling(
        locks -> {
          List<CompletableFuture<Optional<Lease>>> next = new ArrayList<>();
          for (int round = 0; round < ROUNDS; round++) {
            Lease held = fixture.take(locks, fixture.name("gone"), fixture.ttl());
            CompletableFuture<Optional<Lease>> first = waiting(locks, held.name());
            next.add(waiting(locks, held.name()));
            Attempts.pause(); // a waiter that has just come may be overlooked, by another rule
            Attempts.pause();
            CompletableFuture<Boolean> released = held.releaseAsync();
            seed.pauseUpTo(500);
            if (!first.cancel(true)) {
              first.join().ifPresent(lease -> TckFixture.regardless(lease::release));
            }
            fixture.awaitRegardless("it is released", released::isDone);
          }
          return next;
        });
  }

  /** Begins to wait, and gives locks back. */
  private interface Scene {
    List<CompletableFuture<Optional<Lease>>> begun(LockManager locks) throws Exception;
  }

  /** Checks that all waiters are served though they poll too seldom for this test. */
  private void assertServedWithoutPolling(Scene scene) throws Exception {
    if (areServed(scene.begun(fixture.open(Waited.PATIENT)))) {
      return;
    }
    if (!areServed(scene.begun(fixture.open()))) {
      AnotherRule.isBroken("waiters that poll do not get the locks either");
    }
    needsReleases();
    fail("waiters that do not poll did not get locks that their own manager had released");
  }

  /** Leaves the test out if a released lock is not free at once. */
  private void needsReleases() throws InterruptedException {
    LockManager locks = fixture.open();
    for (int i = 0; i < ROUNDS; i++) {
      Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
      TckFixture.regardless(lease::release);
      if (!fixture.gets(locks, lease.name())) {
        AnotherRule.isBroken("a released lock is not free at once");
      }
    }
  }

  private CompletableFuture<Optional<Lease>> waiting(LockManager locks, String name) {
    return locks.tryAcquireAsync(fixture.request(name).waitAtMost(LONG));
  }

  private boolean areServed(List<CompletableFuture<Optional<Lease>>> waiters) {
    fixture.awaitRegardless(
        "waiters are served", () -> waiters.stream().allMatch(CompletableFuture::isDone));
    return waiters.stream().allMatch(CompletableFuture::isDone);
  }
}
