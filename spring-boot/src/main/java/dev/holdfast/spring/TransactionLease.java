package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import java.util.List;
import java.util.function.Predicate;

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

  /**
   * Returns whether nothing but checks comes after the check of a lease.
   *
   * @param callbacks of a transaction, in their order
   * @param checks the class of the callbacks that check leases
   * @param isOfLease whether a check is that of the lease
   */
  static <C> boolean isCheckedLast(
      List<?> callbacks, Class<C> checks, Predicate<? super C> isOfLease) {
    for (int i = callbacks.size() - 1; i >= 0 && checks.isInstance(callbacks.get(i)); i--) {
      if (isOfLease.test(checks.cast(callbacks.get(i)))) {
        return true;
      }
    }
    return false;
  }
}
