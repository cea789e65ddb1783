package dev.holdfast.cli.compare;

import dev.holdfast.Lease;
import java.util.concurrent.atomic.AtomicReference;

/** Detects whether two leases say at the same time that they are held. */
final class CompareJudge {
  private final AtomicReference<Lease> owner = new AtomicReference<>();
  private volatile boolean twoOwners;

  /** Notes a grant: the lease before must be over. */
  void begin(Lease lease) {
    Lease before = owner.getAndSet(lease);
    if (before != null && bothHeld(before, lease)) {
      twoOwners = true;
    }
  }

  /** Notes that a lease is about to be released. */
  void end(Lease lease) {
    owner.compareAndSet(lease, null);
  }

  boolean hasSeenTwoOwners() {
    return twoOwners;
  }

  /**
   * Returns whether both leases are held. A lease never revives, so that a lease that is held
   * before and after is held in between.
   */
  static boolean bothHeld(Lease one, Lease other) {
    return one.isHeld() && other.isHeld() && one.isHeld();
  }
}
