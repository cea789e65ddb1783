package dev.holdfast.examples;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/** No thread waits: not for the lock, not for the work, not for the release. */
final class Async {
  private Async() {}

  /** Opens a manager that calls back on an application's own executor. */
  static LockManager open(String url, Executor executor) {
    return LockManager.builder(url)
        .option("keyPrefix", "orders:")
        .callbackExecutor(executor)
        .open();
  }

  /** Runs some work under a lock. Fails if the wait ends without the lock, or the lock is lost. */
  static <T> CompletableFuture<T> locked(
      LockManager locks, String name, Supplier<CompletableFuture<T>> work) {
    LockRequest request =
        LockRequest.of(name, Duration.ofSeconds(10)).waitAtMost(Duration.ofSeconds(30));
    CompletableFuture<Optional<Lease>> asked = locks.tryAcquireAsync(request);
    CompletableFuture<T> done =
        asked
            .thenApply(
                lease -> lease.orElseThrow(() -> new IllegalStateException("others have it")))
            .thenCompose(lease -> thenRelease(lease, whileHeld(lease, work)));
    done.whenComplete((result, failure) -> asked.cancel(true)); // for who cancels while it waits
    return done;
  }

  private static <T> CompletableFuture<T> whileHeld(
      Lease lease, Supplier<CompletableFuture<T>> work) {
    return CompletableFuture.completedFuture(lease)
        .thenCompose(held -> work.get()) // here, so that what it throws is caught, too
        .thenApply(
            result -> {
              lease.requireHeld();
              return result;
            });
  }

  private static <T> CompletableFuture<T> thenRelease(Lease lease, CompletableFuture<T> work) {
    return work.handle((result, failure) -> lease.releaseAsync())
        .thenCompose(Function.identity())
        .handle((held, failure) -> held) // a lock that cannot be released expires
        .thenCompose(released -> work);
  }
}
