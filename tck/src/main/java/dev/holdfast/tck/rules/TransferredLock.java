package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;

/**
 * A lock on its way from one manager to another.
 *
 * @param name of the lock
 * @param token of the lease that was transferred
 * @param text by which it is adopted
 */
record TransferredLock(String name, String token, String text) {
  /** Takes a lock on all nodes, and transfers it. */
  static TransferredLock of(TckFixture fixture, LockRequest request) {
    Lease lease = OnNodes.take(fixture, fixture.open(), request);
    return new TransferredLock(lease.name(), lease.token(), text(fixture, lease, fixture.ttl()));
  }

  static TransferredLock of(TckFixture fixture, String end) {
    return of(fixture, fixture.request(fixture.name(end)));
  }

  /** Transfers a lease. Leaves the test out if that fails, which is another rule's. */
  static String text(TckFixture fixture, Lease lease, Duration within) {
    try {
      return lease.transfer(within);
    } catch (RuntimeException e) {
      IgnoredFailures.add(e);
      return AnotherRule.isBroken("a lease that is held cannot be transferred");
    }
  }

  /** Adopts a lock. Leaves the test out if that fails, which is another rule's. */
  static Lease adoptedOrSkipped(TckFixture fixture, LockManager locks, String text, String name) {
    return Adopting.ADOPT.adoptOrSkip(fixture, locks, text, fixture.request(name));
  }

  Lease adoptedOrSkipped(TckFixture fixture, LockManager locks) {
    return adoptedOrSkipped(fixture, locks, text, name);
  }
}
