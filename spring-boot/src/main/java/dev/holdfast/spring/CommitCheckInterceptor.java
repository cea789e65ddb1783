package dev.holdfast.spring;

import dev.holdfast.Locks;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The innermost advice of a method with {@link Locked}: has the transaction that the method's own
 * advice began check the lease before its commit.
 */
final class CommitCheckInterceptor implements MethodInterceptor {
  private final Transactions transactions;

  CommitCheckInterceptor(Transactions transactions) {
    this.transactions = transactions;
  }

  @SuppressWarnings("NullAway")
  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    if (transactions.isActive()) {
      Locks.current().ifPresent(transactions::checkBeforeCommit);
    }
    return invocation.proceed();
  }
}
