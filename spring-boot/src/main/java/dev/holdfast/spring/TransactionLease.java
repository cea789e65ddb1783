package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;

/** A lease under which a transaction works, which must outlast the transaction. */
final class TransactionLease {
  private TransactionLease() {}

  /**
   * Checks a lease before its transaction works or commits.
   *
   * @throws LockLostException if the lease was lost
   * @throws IllegalStateException if the lease was released
   */
  static void requireHeld(Lease lease) {
    try {
      lease.requireHeld();
    } catch (LockLostException lost) {
      throw lost;
    } catch (IllegalStateException released) {
      throw new IllegalStateException(
          "the lock '"
              + lease.name()
              + "' was released before the transaction that worked under it has committed; begin"
              + " the transaction inside the lock",
          released);
    }
  }
}
