package dev.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the operations in flight, so that closing a manager can wait for the last one. */
final class InFlightOperations {
  private final AtomicInteger inFlight = new AtomicInteger();
  private volatile CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);

  /** Counts one more operation. */
  void begin() {
    inFlight.incrementAndGet();
  }

  /** Counts one less, and completes {@link #whenIdle()} after the last one. */
  void end() {
    if (inFlight.decrementAndGet() == 0) {
      idle.complete(null);
    }
  }

  /**
   * Completes when no operation is in flight. Must be called once no new operation can begin.
   *
   * @return a future that the caller may complete, to give up waiting
   */
  CompletableFuture<Void> whenIdle() {
    CompletableFuture<Void> future = new CompletableFuture<>();
    idle = future;
    if (inFlight.get() == 0) {
      future.complete(null);
    }
    return future;
  }
}
