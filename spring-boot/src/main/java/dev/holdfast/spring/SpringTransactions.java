package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import java.util.List;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transactions of spring-tx that are bound to the thread. A lease that a transaction holds
 * stays bound while that transaction is suspended, because the suspended transaction ends last.
 */
final class SpringTransactions implements Transactions {
  /** Ends the shield of a commit after all other callbacks, however the transaction has ended. */
  private record EndOfShield(Locks.InterruptShield shield) implements TransactionSynchronization {
    @Override
    public void afterCompletion(int status) {
      shield.close();
    }
  }

  /** The check of a lease, after all work before the commit that was registered earlier. */
  private static final class Check implements TransactionSynchronization {
    private final Lease lease;
    private final Runnable atEnd;
    private volatile boolean isOver;

    /**
     * Describes a check.
     *
     * @param atEnd called when the transaction has ended, on any thread
     */
    Check(Lease lease, Runnable atEnd) {
      this.lease = lease;
      this.atEnd = atEnd;
    }

    @Override
    public int getOrder() {
      return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      TransactionLease.requireHeld(lease);
    }

    @Override
    public void afterCompletion(int status) {
      isOver = true;
      atEnd.run();
    }
  }

  @Override
  public boolean arePresent() {
    return true;
  }

  @Override
  public boolean isActive() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  /** The name that the advice of a method gives to its transaction. */
  @Override
  public boolean isOf(MethodInvocation invocation) {
    Object target = invocation.getThis();
    return isActive()
        && ClassUtils.getQualifiedMethodName(
                invocation.getMethod(), target == null ? null : AopUtils.getTargetClass(target))
            .equals(TransactionSynchronizationManager.getCurrentTransactionName());
  }

  @Override
  public Optional<Lease> held(LockManager manager, String name) {
    HeldKey key = HeldKey.of(manager, name);
    Check bound = (Check) TransactionSynchronizationManager.getResource(key);
    if (bound == null) {
      return Optional.empty();
    }
    if (bound.isOver) { // on another thread, as some transactions that time out
      TransactionSynchronizationManager.unbindResourceIfPossible(key);
      return Optional.empty();
    }
    TransactionLease.requireHeld(bound.lease);
    return Optional.of(bound.lease);
  }

  @Override
  public void holdUntilEnd(LockManager manager, Lease lease) {
    HeldKey key = HeldKey.of(manager, lease.name());
    Check hold =
        new Check(
            lease,
            () -> {
              TransactionSynchronizationManager.unbindResourceIfPossible(key);
              lease.close();
            });
    TransactionSynchronizationManager.registerSynchronization(hold);
    TransactionSynchronizationManager.bindResource(key, hold);
  }

  @Override
  public void checkBeforeCommit(Lease lease) {
    List<TransactionSynchronization> known =
        TransactionSynchronizationManager.getSynchronizations();
    boolean isLast =
        !known.isEmpty()
            && known.get(known.size() - 1) instanceof Check check
            && check.lease == lease;
    if (!isLast) {
      TransactionSynchronizationManager.registerSynchronization(new Check(lease, () -> {}));
    }
  }

  @Override
  public void checkAtCommit() {
    List<TransactionSynchronization> known =
        TransactionSynchronizationManager.getSynchronizations();
    if (Locks.current().isPresent()) { // before the check: a loss in between interrupts no commit
      TransactionSynchronizationManager.registerSynchronization(
          new EndOfShield(Locks.postponeInterrupts()));
    }
    Locks.requireNoneLost();
    for (TransactionSynchronization each : known) {
      if (each instanceof Check check) {
        TransactionLease.requireHeld(check.lease);
      }
    }
  }
}
