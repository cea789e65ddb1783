package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.Locks;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;

/**
 * Has the transactions of a thread check the locks under which it works. At the beginning it notes
 * the innermost lock, which must not be released before the commit. Right before the commit, after
 * all callbacks, it checks that no lock was lost.
 */
record CommitCheckListener(Transactions transactions) implements TransactionExecutionListener {
  @Override
  public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
    if (failure == null && isOfTheThread(transaction)) {
      Locks.current()
          .filter(CommitCheckListener::protects)
          .ifPresent(transactions::checkBeforeCommit);
    }
  }

  @Override
  public void beforeCommit(TransactionExecution transaction) {
    if (isOfTheThread(transaction)) {
      transactions.checkAtCommit();
    }
  }

  /** A savepoint is no new transaction: the check is that of the transaction around it. */
  private boolean isOfTheThread(TransactionExecution transaction) {
    return transaction instanceof TransactionStatus
        && transaction.isNewTransaction()
        && transactions.isActive();
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
