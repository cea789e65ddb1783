package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.Optional;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions of spring-tx that are bound to the thread. A lease that a transaction holds
 * stays bound while that transaction is suspended: it ends after the one that runs meanwhile.
 */
final class SpringTransactions implements Transactions {
  /** The key of a lease among the resources of the thread. */
  private record Held(LockManager manager, String name) {}

  /** The check of a lease, after all other work before the commit. */
  private static class Check implements TransactionSynchronization {
    final Lease lease;

    Check(Lease lease) {
      this.lease = lease;
    }

    @Override
    public int getOrder() {
      return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      lease.requireHeld();
    }
  }

  /** The check and the release of a lease. */
  private static final class Hold extends Check {
    private final Held key;

    Hold(Held key, Lease lease) {
      super(lease);
      this.key = key;
    }

    @Override
    public void afterCompletion(int status) {
      TransactionSynchronizationManager.unbindResourceIfPossible(key);
      lease.close();
    }
  }

  @Override
  public boolean isActive() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  @Override
  public Optional<Lease> held(LockManager manager, String name) {
    Object lease = TransactionSynchronizationManager.getResource(new Held(manager, name));
    return Optional.ofNullable((Lease) lease);
  }

  @Override
  public void holdUntilEnd(LockManager manager, Lease lease) {
    Held key = new Held(manager, lease.name());
    TransactionSynchronizationManager.registerSynchronization(new Hold(key, lease));
    TransactionSynchronizationManager.bindResource(key, lease);
  }

  @Override
  public void checkBeforeCommit(Lease lease) {
    boolean isChecked =
        TransactionSynchronizationManager.getSynchronizations().stream()
            .anyMatch(known -> known instanceof Check check && check.lease == lease);
    if (!isChecked) {
      TransactionSynchronizationManager.registerSynchronization(new Check(lease));
    }
  }
}
