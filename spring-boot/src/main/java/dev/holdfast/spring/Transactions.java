package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;

/** The transactions of the calling thread, so that spring-tx can be absent. */
interface Transactions {
  /** No transactions: spring-tx is absent. */
  Transactions NONE =
      new Transactions() {
        @Override
        public boolean arePresent() {
          return false;
        }

        @Override
        public boolean isActive() {
          return false;
        }

        @Override
        public boolean isOf(MethodInvocation invocation) {
          return false;
        }

        @Override
        public Optional<Lease> held(LockManager manager, String name) {
          return Optional.empty();
        }

        @Override
        public void holdUntilEnd(LockManager manager, Lease lease) {
          throw new IllegalStateException("no transaction is active");
        }

        @Override
        public void checkBeforeCommit(Lease lease) {}
      };

  /** Returns whether spring-tx is there. */
  boolean arePresent();

  /** Returns whether the calling thread is in a transaction. */
  boolean isActive();

  /** Returns whether the advice of the called method began the transaction of the thread. */
  boolean isOf(MethodInvocation invocation);

  /** Finds the lease that a transaction of the calling thread holds, also a suspended one. */
  Optional<Lease> held(LockManager manager, String name);

  /** Holds a lease until the transaction ends, and checks it right before the commit. */
  void holdUntilEnd(LockManager manager, Lease lease);

  /**
   * Rolls the transaction back if the lease is lost when the commit begins: after all work before
   * the commit that is known now.
   */
  void checkBeforeCommit(Lease lease);
}
