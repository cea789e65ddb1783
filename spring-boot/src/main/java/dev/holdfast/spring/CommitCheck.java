package dev.holdfast.spring;

import dev.holdfast.Lease;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * The check of a lease before the commit of a transaction whose manager has no {@link
 * CommitCheckListener}, after all work before the commit that was registered earlier.
 *
 * @param hold ends with the transaction, or null if the lease is held elsewhere
 */
record CommitCheck(Lease lease, @Nullable LeaseHold hold) implements TransactionSynchronization {
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
    if (hold != null) {
      hold.end();
    }
  }
}
