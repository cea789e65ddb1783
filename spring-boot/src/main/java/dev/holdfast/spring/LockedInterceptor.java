package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.Locks;
import dev.holdfast.spi.LeaseDelivery;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Runs a method with {@link Locked} under its lock. Safe for use by many threads. */
final class LockedInterceptor implements MethodInterceptor {
  private final LockedMethods methods;
  private final LockManagers managers;
  private final Transactions transactions;

  LockedInterceptor(LockedMethods methods, LockManagers managers, Transactions transactions) {
    this.methods = methods;
    this.managers = managers;
    this.transactions = transactions;
  }

  @SuppressWarnings("NullAway")
  @Override
  public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
    Optional<LockedMethod> found = methods.find(invocation);
    if (found.isEmpty()) {
      return invocation.proceed();
    }
    LockedMethod method = found.get();
    LockManager manager = managers.get(method);
    LockRequest request = method.request(invocation.getThis(), invocation.getArguments());
    Optional<Lease> ofThread = ofThread(manager, request.name());
    if (ofThread.isEmpty() && transactions.isActive()) {
      requireUsableInTransaction(method, request);
    }
    Optional<Lease> joined = ofThread.or(() -> transactions.held(manager, request.name()));
    if (method.result().isReactive()) {
      return new LockedPublisher(manager, request, joined.orElse(null), method, invocation)
          .get(transactions.arePresent());
    }
    if (joined.isPresent()) {
      return runJoined(method, manager, joined.get(), invocation);
    }
    Lease lease = acquire(method, manager, request);
    if (lease == null) {
      return method.result().skipped();
    }
    return transactions.isActive()
        ? runInTransaction(method, manager, lease, invocation)
        : runAndRelease(method, manager, lease, invocation);
  }

  /** Finds the lease of this name under which the thread works already. */
  private static Optional<Lease> ofThread(LockManager manager, String name) {
    if (Locks.current().isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Locks.requireCurrent(manager, name));
    } catch (IllegalStateException underOtherLocks) {
      return Optional.empty();
    }
  }

  private static void requireUsableInTransaction(LockedMethod method, LockRequest request) {
    method.requireNoFailInTransaction(request.name());
    if (method.result().kind() != LockedReturn.Kind.VALUE) {
      throw endsBeforeTheWork(method, method.result().isStage() ? "CompletionStage" : "publisher");
    }
  }

  private static IllegalStateException endsBeforeTheWork(LockedMethod method, String result) {
    return new IllegalStateException(
        "@Locked on "
            + method
            + " returns a "
            + result
            + " and was called inside a transaction of the thread, which would end before the"
            + " work; call it outside of transactions");
  }

  /** Acquires the lock. Returns null if another owner holds it and the method says SKIP. */
  private static @Nullable Lease acquire(
      LockedMethod method, LockManager manager, LockRequest request) throws InterruptedException {
    try {
      return method.skips() ? manager.tryAcquire(request).orElse(null) : manager.acquire(request);
    } catch (InterruptedException e) {
      if (method.declaresInterrupts()) {
        throw e;
      }
      Thread.currentThread().interrupt();
      throw new IllegalStateException(
          method + " was interrupted while it waited for the lock '" + request.name() + "'", e);
    }
  }

  private @Nullable Object runJoined(
      LockedMethod method, LockManager manager, Lease lease, MethodInvocation invocation)
      throws Exception {
    Object result = run(method, manager, lease, invocation);
    return result instanceof CompletionStage<?> work ? LockedStage.joining(lease, work) : result;
  }

  private @Nullable Object runInTransaction(
      LockedMethod method, LockManager manager, Lease lease, MethodInvocation invocation)
      throws Exception {
    try {
      transactions.holdUntilEnd(manager, lease);
    } catch (Throwable notRegistered) {
      LeaseDelivery.releaseUnclaimed(lease);
      throw notRegistered;
    }
    Object result = run(method, manager, lease, invocation);
    if (LockedStage.isAtWork(result)) { // although the method declares another type
      throw endsBeforeTheWork(method, "CompletionStage");
    }
    return result;
  }

  private static @Nullable Object runAndRelease(
      LockedMethod method, LockManager manager, Lease lease, MethodInvocation invocation)
      throws Exception {
    boolean isStillAtWork = false;
    try {
      Object result = run(method, manager, lease, invocation);
      if (result instanceof CompletionStage<?> work) {
        isStillAtWork = true;
        return LockedStage.releasing(lease, work);
      }
      return result;
    } finally {
      if (!isStillAtWork) {
        lease.close();
      }
    }
  }

  private static @Nullable Object run(
      LockedMethod method, LockManager manager, Lease lease, MethodInvocation invocation)
      throws Exception {
    Object result =
        Locks.<Optional<Object>, Exception>executeHolding(
                manager, lease, held -> Optional.ofNullable(proceed(invocation)))
            .orElse(null);
    if (LockedReturn.isPublisher(result)) {
      throw new IllegalStateException(
          "@Locked on "
              + method
              + " returned a publisher, whose work would begin after the release; declare a Mono or"
              + " a Flux as its result");
    }
    return result;
  }

  static @Nullable Object proceed(MethodInvocation invocation) throws Exception {
    try {
      return invocation.proceed();
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable other) {
      throw new UndeclaredThrowableException(other);
    }
  }
}
