package dev.holdfast.spring;

import dev.holdfast.Locks;
import java.util.Optional;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * The innermost advice of a method with {@link Locked}: has the transaction that the method's own
 * advice began check the lease before its commit.
 */
final class CommitCheckInterceptor implements MethodInterceptor {
  /** The name of the attribute of a call with the shield of its last try. */
  private static final String SHIELD = CommitCheckInterceptor.class.getName();

  private final LockedMethods methods;
  private final Transactions transactions;

  CommitCheckInterceptor(LockedMethods methods, Transactions transactions) {
    this.methods = methods;
    this.transactions = transactions;
  }

  @SuppressWarnings("NullAway")
  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Optional<LockedMethod> method = methods.find(invocation);
    if (method.isPresent() && method.get().result().isReactive()) {
      requireNoOwnTransactionOfTheThread(
          method.get(), "publisher", "use a ReactiveTransactionManager", invocation);
      return LockedBody.of(
          method.get(), (ProxyMethodInvocation) invocation, transactions.arePresent());
    }
    endEarlierTry((ProxyMethodInvocation) invocation);
    try {
      Object result = invocation.proceed();
      if (method.isPresent() && LockedStage.isAtWork(result)) { // @Async returns stages that ended
        requireNoOwnTransactionOfTheThread(
            method.get(), "CompletionStage", "begin the transaction in the work", invocation);
      }
      return result;
    } finally { // so that it comes after the work before the commit that the method has registered
      ((ProxyMethodInvocation) invocation) // the end of the transaction follows
          .setUserAttribute(SHIELD, Locks.postponeInterrupts());
      Locks.current().ifPresent(transactions::checkBeforeCommit);
    }
  }

  /** Lets a loss interrupt the method again that advice inside of the lock calls a further time. */
  private static void endEarlierTry(ProxyMethodInvocation invocation) {
    if (invocation.getUserAttribute(SHIELD) instanceof Locks.InterruptShield shield) {
      Locks.requireNoneLost();
      shield.close();
    }
  }

  private void requireNoOwnTransactionOfTheThread(
      LockedMethod method, String result, String remedy, MethodInvocation invocation) {
    if (transactions.isOf(invocation)) {
      throw new IllegalStateException(
          "@Locked on "
              + method
              + " returns a "
              + result
              + ", and its @Transactional began a transaction of the thread, which would end before"
              + " the work; "
              + remedy);
    }
  }
}
