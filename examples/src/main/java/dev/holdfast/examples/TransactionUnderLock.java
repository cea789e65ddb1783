package dev.holdfast.examples;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedTask;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.Optional;

/** A transaction inside a lock: the lock outlives the commit, and a lost lock rolls back. */
final class TransactionUnderLock {
  private TransactionUnderLock() {}

  /** The part of a transaction manager that matters here. */
  interface Transaction {
    void commit();

    void rollback();
  }

  /**
   * Ships an order, unless another process does.
   *
   * @return empty if another process ships the order
   */
  static Optional<String> ship(
      LockManager locks, Transaction transaction, LockedTask<String, RuntimeException> work)
      throws InterruptedException {
    LockRequest request =
        LockRequest.of("order-4711", Duration.ofSeconds(30)).keepAliveUpTo(Duration.ofMinutes(5));
    return locks.tryExecuteLocked(
        request,
        lease -> {
          try {
            // an interrupt for a loss becomes LockLostException, which rolls back
            String result = Locks.executeHolding(locks, lease, work);
            transaction.commit();
            return result;
          } catch (RuntimeException | InterruptedException e) {
            transaction.rollback();
            throw e;
          }
        });
  }

  /** A method that must be called under the lock, at any depth below. */
  static void reserve(String order) {
    Lease lease = Locks.requireCurrent(order);
    System.out.println("reserved under the fencing token " + lease.fencingToken());
  }
}
