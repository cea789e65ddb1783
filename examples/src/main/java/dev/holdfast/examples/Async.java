package dev.holdfast.examples;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** No thread waits: not for the lock, not for the work, not for the release. */
final class Async {
  private Async() {}

  /** Runs some work under a lock; empty-handed after the wait, it fails. */
  static <T> CompletableFuture<T> locked(
      LockManager locks, String name, Supplier<CompletableFuture<T>> work) {
    LockRequest request =
        LockRequest.of(name, Duration.ofSeconds(10)).waitAtMost(Duration.ofSeconds(30));
    return locks
        .tryAcquireAsync(request)
        .thenCompose(
            lease ->
                lease
                    .map(held -> thenRelease(held, work.get()))
                    .orElseGet(
                        () ->
                            CompletableFuture.failedFuture(
                                new IllegalStateException("somebody else is at it"))));
  }

  private static <T> CompletableFuture<T> thenRelease(Lease lease, CompletableFuture<T> work) {
    return work.thenCompose(result -> lease.releaseAsync().thenApply(held -> result))
        .whenComplete((result, failure) -> lease.close());
  }
}
