package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;

/** The transactions of the calling thread, so that spring-tx can be absent. */
interface Transactions {
  /** No transactions: spring-tx is absent. */
  Transactions NONE = new Transactions() {};

  /** Returns whether spring-tx is there. */
  default boolean arePresent() {
    return false;
  }

  /** Returns whether the calling thread is in a transaction. */
  default boolean isActive() {
    return false;
  }

  /** Returns whether the advice of the called method began the transaction of the thread. */
  default boolean isOf(MethodInvocation invocation) {
    return false;
  }

  /**
   * Finds the lease that a transaction of the calling thread holds, also a suspended one.
   *
   * @throws dev.holdfast.LockLostException if the lease was lost
   * @throws IllegalStateException if the lease was released
   */
  default Optional<Lease> held(LockManager manager, String name) {
    return Optional.empty();
  }

  /** Holds a lease until the transaction ends, and checks it right before the commit. */
  default void holdUntilEnd(LockManager manager, Lease lease) {
    throw new IllegalStateException("no transaction is active");
  }

  /**
   * Rolls the transaction back if the lease is lost when the commit begins: after all work before
   * the commit that is known now.
   */
  default void checkBeforeCommit(Lease lease) {}

  /**
   * Checks, right before a transaction of the calling thread commits, all leases under which the
   * thread works and all that the transaction holds. Until the transaction has ended, no loss
   * interrupts the thread.
   *
   * @throws dev.holdfast.LockLostException if a lease was lost
   * @throws IllegalStateException if a lease was released that the transaction needs
   */
  default void checkAtCommit() {}
}
