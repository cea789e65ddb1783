package dev.holdfast.spring;

import dev.holdfast.Lease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The stage that callers of a locked method get: it ends after the release. */
final class LockedStage {
  private LockedStage() {}

  /** Ends as the work does, but with an exception if the lease was lost before; then releases. */
  static <T> CompletableFuture<T> releasing(Lease lease, CompletionStage<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    work.whenComplete(
        (value, failure) -> {
          Throwable end = endOf(lease, failure);
          lease
              .releaseAsync()
              .whenComplete((released, unreachable) -> complete(result, value, end));
        });
    return cancelling(result, work);
  }

  /** Ends as the work does, but with an exception if the lease ended before the work. */
  static <T> CompletableFuture<T> joining(Lease lease, CompletionStage<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    work.whenComplete((value, failure) -> complete(result, value, endOf(lease, failure)));
    return cancelling(result, work);
  }

  private static @Nullable Throwable endOf(Lease lease, @Nullable Throwable failure) {
    try {
      lease.requireHeld();
      return failure;
    } catch (RuntimeException notHeld) {
      if (failure != null) {
        notHeld.addSuppressed(failure);
      }
      return notHeld;
    }
  }

  private static <T> void complete(
      CompletableFuture<T> result, T value, @Nullable Throwable failure) {
    if (failure == null) {
      result.complete(value);
    } else {
      result.completeExceptionally(failure);
    }
  }

  /** Passes a cancellation on to the work: the lock is held until the work has ended. */
  private static <T> CompletableFuture<T> cancelling(
      CompletableFuture<T> result, CompletionStage<T> work) {
    result.whenComplete(
        (value, failure) -> {
          if (result.isCancelled() && work instanceof CompletableFuture<T> future) {
            future.cancel(true);
          }
        });
    return result;
  }
}
