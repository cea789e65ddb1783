package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.List;
import java.util.Optional;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions of spring-tx that are bound to the thread. A lease that a transaction holds
 * stays bound while that transaction is suspended: it ends after the one that runs meanwhile.
 */
final class SpringTransactions implements Transactions {
  /** The check of a lease, after all work before the commit that was registered earlier. */
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
    private final HeldKey key;

    Hold(HeldKey key, Lease lease) {
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
  public boolean arePresent() {
    return true;
  }

  @Override
  public boolean isActive() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  @Override
  public Optional<Lease> held(LockManager manager, String name) {
    Object lease = TransactionSynchronizationManager.getResource(new HeldKey(manager, name));
    return Optional.ofNullable((Lease) lease);
  }

  @Override
  public void holdUntilEnd(LockManager manager, Lease lease) {
    HeldKey key = new HeldKey(manager, lease.name());
    TransactionSynchronizationManager.registerSynchronization(new Hold(key, lease));
    TransactionSynchronizationManager.bindResource(key, lease);
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
      TransactionSynchronizationManager.registerSynchronization(new Check(lease));
    }
  }
}
