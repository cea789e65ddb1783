package dev.holdfast.spring;

import dev.holdfast.Lease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A lease that a transaction of a thread holds, which is bound to the thread meanwhile. */
final class LeaseHold {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private final HeldKey key;
  private final Lease lease;
  private volatile boolean hasEnded;

  LeaseHold(HeldKey key, Lease lease) {
    this.key = key;
    this.lease = lease;
  }

  Lease lease() {
    return lease;
  }

  /** Returns whether the transaction has ended, possibly on another thread. */
  boolean hasEnded() {
    return hasEnded;
  }

  /** Releases the lease. Never fails, because other leases have to be released as well. */
  void end() {
    hasEnded = true;
    if (TransactionSynchronizationManager.getResource(key) == this) {
      TransactionSynchronizationManager.unbindResource(key);
    }
    try {
      lease.close();
    } catch (RuntimeException failure) { // of a decorator
      LOG.log(Level.WARNING, "the release of '" + key.name() + "' failed", failure);
    }
  }
}
