package dev.holdfast.spi;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The step at which a lease reaches the caller of a decorated {@link LockManager}, who may have
 * cancelled the request meanwhile. Safe for use by many threads.
 */
public final class LeaseDelivery {
  private LeaseDelivery() {}

  /**
   * Returns a future for the caller of a decorator. Its cancellation cancels the request below. A
   * lease that arrives afterwards is released as {@link #releaseUnclaimed} does.
   *
   * @param <T> the result
   * @param below the future of the manager that is decorated
   * @param onResult sees the result before the caller, and returns the caller's own result. If it
   *     throws, the lease is released and the returned future fails with that exception
   * @param onFailure sees the failure before the caller, without a {@link CompletionException}
   *     around it. An exception that it throws is suppressed by the failure
   * @param leaseOf returns the lease of a result, or empty if there is none
   * @return completes on the thread that completes {@code below}. Its failures have no {@link
   *     CompletionException} around them
   */
  public static <T> CompletableFuture<T> deliver(
      CompletableFuture<T> below,
      UnaryOperator<T> onResult,
      Consumer<? super Throwable> onFailure,
      Function<? super T, Optional<Lease>> leaseOf) {
    CompletableFuture<T> caller = new CompletableFuture<>();
    caller.whenComplete((result, failure) -> below.cancel(false));
    below.whenComplete(
        (result, failure) -> {
          if (failure == null) {
            complete(caller, result, onResult, leaseOf);
          } else {
            fail(caller, causeOf(failure), onFailure);
          }
        });
    return caller;
  }

  /**
   * Releases a lease that no caller took, at once, also if its request had {@code holdAtLeast}.
   * Blocks no thread, and throws no {@link LockException}.
   *
   * @param lease may have been released or lost
   */
  public static void releaseUnclaimed(Lease lease) {
    try {
      lease.holdAtLeast(Duration.ZERO);
    } catch (RuntimeException noHold) {
      // the backend has no holds, or the lease is over
    }
    lease.releaseAsync();
  }

  private static <T> void complete(
      CompletableFuture<T> caller,
      T result,
      UnaryOperator<T> onResult,
      Function<? super T, Optional<Lease>> leaseOf) {
    T own;
    try {
      own = onResult.apply(result);
    } catch (RuntimeException | Error e) {
      try { // first: the caller may try again at once
        leaseOf.apply(result).ifPresent(LeaseDelivery::releaseUnclaimed);
      } finally {
        caller.completeExceptionally(e);
      }
      return;
    }
    if (!caller.complete(own)) {
      leaseOf.apply(own).ifPresent(LeaseDelivery::releaseUnclaimed);
    }
  }

  private static void fail(
      CompletableFuture<?> caller, Throwable failure, Consumer<? super Throwable> onFailure) {
    try {
      onFailure.accept(failure);
    } catch (RuntimeException | Error e) {
      failure.addSuppressed(e);
    } finally {
      caller.completeExceptionally(failure);
    }
  }

  private static Throwable causeOf(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }
}
