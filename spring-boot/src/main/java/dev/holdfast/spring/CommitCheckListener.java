package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.Locks;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Has the transactions of a thread check the locks under which it works. At the beginning it notes
 * the innermost lock, which must not be released before the commit. Right before the commit, after
 * all callbacks, it checks that no lock was lost.
 */
record CommitCheckListener(PlatformTransactionManager manager)
    implements TransactionExecutionListener {
  @Override
  public void afterBegin(TransactionExecution execution, @Nullable Throwable failure) {
    if (failure == null && hasCallbacks(execution)) {
      CheckedTransaction transaction = CheckedTransaction.begin(manager, execution);
      Locks.current().filter(CommitCheckListener::protects).ifPresent(transaction::check);
    }
  }

  @Override
  public void beforeCommit(TransactionExecution execution) {
    if (hasCallbacks(execution)) {
      CheckedTransaction.requireAllHeld();
    }
  }

  /** Ends the transaction if its callbacks were lost, because resuming it has failed. */
  @Override
  public void afterCommit(TransactionExecution execution, @Nullable Throwable failure) {
    CheckedTransaction.endOf(execution);
  }

  @Override
  public void afterRollback(TransactionExecution execution, @Nullable Throwable failure) {
    CheckedTransaction.endOf(execution);
  }

  /**
   * Returns whether a transaction has callbacks of its own. A savepoint has none: the check is that
   * of the transaction around it.
   */
  private static boolean hasCallbacks(TransactionExecution execution) {
    return execution instanceof TransactionStatus
        && execution.isNewTransaction()
        && !(execution instanceof DefaultTransactionStatus status && !status.isNewSynchronization())
        && SpringTransactions.hasCallbacks();
  }

  /** Returns whether a lease is held or lost. After a release or a transfer it protects nothing. */
  private static boolean protects(Lease lease) {
    try {
      lease.requireHeld();
      return true;
    } catch (LockLostException lost) {
      return true;
    } catch (IllegalStateException over) {
      return false;
    }
  }
}
