package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transactions of spring-tx that are bound to the thread. A lease that a transaction holds
 * stays bound while that transaction is suspended, because the suspended transaction ends last.
 */
final class SpringTransactions implements Transactions {
  @Override
  public boolean arePresent() {
    return true;
  }

  @Override
  public boolean isActive() {
    return hasCallbacks() || CheckedTransaction.outermost() != null;
  }

  /** Returns whether the thread is in a transaction whose callbacks are active. */
  static boolean hasCallbacks() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  /** Compares with the name that the advice of a method gives to its transaction. */
  @Override
  public boolean isOf(MethodInvocation invocation) {
    Object target = invocation.getThis();
    return hasCallbacks()
        && ClassUtils.getQualifiedMethodName(
                invocation.getMethod(), target == null ? null : AopUtils.getTargetClass(target))
            .equals(TransactionSynchronizationManager.getCurrentTransactionName());
  }

  @Override
  public Optional<Lease> held(LockManager manager, String name) {
    CheckedTransaction.endCompleted();
    HeldKey key = new HeldKey(manager, name);
    LeaseHold bound = (LeaseHold) TransactionSynchronizationManager.getResource(key);
    if (bound == null) {
      return Optional.empty();
    }
    if (bound.hasEnded() || (!isActive() && !bound.lease().isHeld())) { // its end was not signalled
      TransactionSynchronizationManager.unbindResourceIfPossible(key);
      return Optional.empty();
    }
    TransactionLease.requireHeld(bound.lease());
    return Optional.of(bound.lease());
  }

  @Override
  public void holdUntilEnd(LockManager manager, Lease lease) {
    HeldKey key = new HeldKey(manager, lease.name());
    LeaseHold hold = new LeaseHold(key, lease);
    CheckedTransaction outermost = CheckedTransaction.outermost();
    if (outermost == null) {
      TransactionSynchronizationManager.registerSynchronization(new CommitCheck(lease, hold));
    } else {
      outermost.hold(hold);
    }
    TransactionSynchronizationManager.bindResource(key, hold);
  }

  @Override
  public void checkBeforeCommit(Lease lease) {
    CheckedTransaction current = CheckedTransaction.current();
    if (current != null) {
      current.check(lease);
    } else if (hasCallbacks()
        && !TransactionLease.isCheckedLast(
            TransactionSynchronizationManager.getSynchronizations(),
            CommitCheck.class,
            check -> check.lease() == lease)) {
      TransactionSynchronizationManager.registerSynchronization(new CommitCheck(lease, null));
    }
  }
}
