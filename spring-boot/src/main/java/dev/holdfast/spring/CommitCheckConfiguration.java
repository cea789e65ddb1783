package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.Locks;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;

/**
 * The check of transactions that begin under a lock, also of another bean or of a template. Spring
 * Boot adds the listener to the transaction managers that it creates.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(TransactionExecutionListener.class)
class CommitCheckConfiguration {
  @Bean
  static TransactionExecutionListener holdfastCommitCheck() {
    return new AtBegin(new SpringTransactions());
  }

  private record AtBegin(Transactions transactions) implements TransactionExecutionListener {
    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
      boolean isOfThread = transaction instanceof TransactionStatus;
      // a savepoint is none that is new: the check would be that of the transaction around it
      if (failure == null
          && isOfThread
          && transaction.isNewTransaction()
          && transactions.isActive()) {
        Locks.current().filter(AtBegin::protects).ifPresent(transactions::checkBeforeCommit);
      }
    }

    /**
     * Returns whether a lease is held or lost. After a release or a transfer it protects nothing.
     */
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
}
