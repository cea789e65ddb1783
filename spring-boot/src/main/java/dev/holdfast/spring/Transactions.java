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

  /**
   * Returns whether the calling thread is in a transaction, also in one whose callbacks are
   * suspended but to which the thread still writes.
   */
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

  /**
   * Holds a lease until the outermost transaction to which the calling thread writes has ended, and
   * checks the lease right before the commit.
   */
  default void holdUntilEnd(LockManager manager, Lease lease) {
    throw new IllegalStateException("no transaction is active");
  }

  /**
   * Rolls the current transaction back if the lease is lost when the commit begins: after all work
   * before the commit that is known now. Does nothing outside of transactions.
   */
  default void checkBeforeCommit(Lease lease) {}
}
