package dev.holdfast.core;

import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Small steps between stages and threads. */
final class Futures {
  private Futures() {}

  /**
   * Waits for an operation that cannot be interrupted. Keeps the interrupt flag.
   *
   * @param boundNanos far above the backend's own bound, met only if it breaks the contract
   */
  static <T> T join(CompletableFuture<T> future, long boundNanos) {
    return join(
        future,
        boundNanos,
        () -> {
          throw noResultWithin(boundNanos);
        });
  }

  /**
   * Waits as {@link #join} does, for a future that no other code waits for. When the wait is over,
   * the future fails, so that the code that completes it later learns that no caller takes its
   * result.
   *
   * @param boundNanos as for {@link #join}
   */
  static <T> T joinOrFail(CompletableFuture<T> own, long boundNanos) {
    return join(
        own,
        boundNanos,
        () -> {
          own.completeExceptionally(noResultWithin(boundNanos));
          return joinCompleted(own);
        });
  }

  private static <T> T joinCompleted(CompletableFuture<T> completed) {
    try {
      return completed.join();
    } catch (CompletionException e) {
      throw fromHere(e);
    }
  }

  private static LockOutageException noResultWithin(long boundNanos) {
    return new LockOutageException(
        "the backend gave no result within " + TimeUnit.NANOSECONDS.toSeconds(boundNanos) + " s",
        Map.of("backend", new TimeoutException()),
        true);
  }

  /**
   * Waits for an operation that cannot be interrupted. Keeps the interrupt flag.
   *
   * @param late gives the result if there is none in time
   */
  static <T> T join(CompletableFuture<T> future, long boundNanos, Supplier<T> late) {
    long begun = System.nanoTime();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return future.get(boundNanos - (System.nanoTime() - begun), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw fromHere(e);
        } catch (TimeoutException e) {
          return late.get();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Starts an operation of a backend. If it throws or returns nothing, it has failed. */
  static <T> CompletableFuture<T> start(Supplier<CompletableFuture<T>> operation) {
    return call(operation).thenApply(Futures::requireResult);
  }

  /** Calls an operation, and returns a failed future if it throws. */
  static <T> CompletableFuture<T> call(Supplier<? extends CompletableFuture<T>> operation) {
    try {
      return Objects.requireNonNull(operation.get(), "the backend returned no future");
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static <T> T requireResult(@Nullable T result) {
    if (result == null) {
      throw new IllegalStateException("the backend gave neither a result nor a failure");
    }
    return result;
  }

  /** Completes a future as another one completed. */
  static <T> void complete(CompletableFuture<T> future, T value, @Nullable Throwable failure) {
    if (failure == null) {
      future.complete(value);
    } else {
      future.completeExceptionally(cause(failure));
    }
  }

  /** Returns the failure without the exceptions that chained stages put around it. */
  static Throwable cause(Throwable failure) {
    Throwable cause = failure.getCause();
    boolean wrapped =
        failure instanceof CompletionException || failure instanceof ExecutionException;
    return wrapped && cause != null ? cause(cause) : failure;
  }

  /** Returns the failure for the thread that waited for it, with the frames of that thread. */
  static RuntimeException fromHere(Throwable failure) {
    RuntimeException unchecked = unchecked(failure);
    return unchecked instanceof LockException seen ? seen.fromHere() : unchecked;
  }

  /** Returns the failure for one of the users who see it: a copy of their own. */
  static Throwable forUser(Throwable failure) {
    Throwable cause = cause(failure);
    if (cause instanceof LockException seen) {
      LockException copy = seen.fromHere();
      copy.setStackTrace(seen.getStackTrace());
      return copy;
    }
    return cause;
  }

  static RuntimeException unchecked(Throwable failure) {
    Throwable cause = cause(failure);
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException runtime ? runtime : new CompletionException(cause);
  }
}
