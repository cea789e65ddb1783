package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The stage that callers of a locked method get. */
final class LockedStage {
  private LockedStage() {}

  /** Returns whether a result is a stage that has not ended, or one that does not say so. */
  static boolean isAtWork(@Nullable Object result) {
    return result instanceof CompletionStage<?> stage && !hasEnded(stage);
  }

  private static boolean hasEnded(CompletionStage<?> stage) {
    try {
      return stage.toCompletableFuture().isDone(); // a minimal stage refuses its own isDone()
    } catch (UnsupportedOperationException unknown) {
      return false;
    }
  }

  /**
   * Returns a stage that ends as the work does, after the release. If the lease was lost before the
   * end of the work, the stage fails with {@link LockLostException}. A caller that cancels the
   * stage ends neither the work nor the hold: a cancelled future says nothing about the thread that
   * works.
   */
  static <T> CompletableFuture<T> releasing(Lease lease, CompletionStage<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    work.whenComplete(
        (value, failure) -> {
          Throwable end = endOf(lease, failure, LockLostException.class);
          lease
              .releaseAsync()
              .whenComplete((released, unreachable) -> complete(result, value, end));
        });
    return result;
  }

  /**
   * Returns a stage that ends as the work does, or fails if the lease was lost or released before
   * the end of the work.
   */
  static <T> CompletableFuture<T> joining(Lease lease, CompletionStage<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    work.whenComplete(
        (value, failure) -> complete(result, value, endOf(lease, failure, RuntimeException.class)));
    return result;
  }

  private static @Nullable Throwable endOf(
      Lease lease, @Nullable Throwable failure, Class<? extends RuntimeException> wrong) {
    try {
      lease.requireHeld();
      return failure;
    } catch (RuntimeException notHeld) {
      if (!wrong.isInstance(notHeld)) {
        return failure;
      }
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
}
