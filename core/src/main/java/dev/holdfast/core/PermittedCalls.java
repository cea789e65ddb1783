package dev.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Calls of the backend that need a permit and are counted as operations in flight. The caller has
 * counted the operation with {@link InFlightOperations#begin} before; its end is counted here.
 *
 * @param context the manager's limits
 */
record PermittedCalls(ManagerContext context) {
  /**
   * Runs a backend call when there is a permit: at once on this thread if that is now.
   *
   * @param result completes as the call does
   * @param callerWaits whether this thread may be used for input and output
   * @param call takes whether it may use the thread that it runs on
   */
  <T> void run(
      CompletableFuture<T> result,
      boolean callerWaits,
      Function<Boolean, CompletableFuture<T>> call) {
    if (context.limiter().hasPermit()) {
      runNow(result, () -> call.apply(callerWaits));
    } else {
      context.limiter().enqueue(() -> runNow(result, () -> call.apply(false)));
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
