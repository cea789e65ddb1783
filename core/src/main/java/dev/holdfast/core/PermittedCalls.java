package dev.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Calls of the backend that need a permit and are counted as operations in flight.
 *
 * @param context the manager's limits
 */
record PermittedCalls(ManagerContext context) {
  /**
   * Counts an operation, and runs its call as {@link #run} does.
   *
   * @param call starts the operation
   */
  <T> CompletableFuture<T> start(Supplier<CompletableFuture<T>> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    context.operations().begin();
    run(result, call);
    return result;
  }

  /**
   * Runs a backend call when there is a permit: at once on this thread if that is now. The caller
   * has counted the operation with {@link InFlightOperations#begin}. Its end is counted here.
   *
   * @param result completes as the call does
   * @param call starts the operation
   */
  <T> void run(CompletableFuture<T> result, Supplier<CompletableFuture<T>> call) {
    if (context.limiter().hasPermit()) {
      runNow(result, call);
    } else {
      context.limiter().enqueue(() -> runNow(result, call));
    }
  }

  private <T> void runNow(CompletableFuture<T> result, Supplier<CompletableFuture<T>> call) {
    context.limiter().acquirePermit();
    Futures.call(call)
        .whenComplete(
            (value, failure) -> {
              try {
                Futures.complete(result, value, failure);
              } finally {
                context.limiter().releasePermit();
                context.operations().end();
              }
            });
  }
}
