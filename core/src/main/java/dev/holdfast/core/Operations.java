package dev.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the backend's operations that are under way, so that closing can wait for the last. */
final class Operations {
  private final AtomicInteger underWay = new AtomicInteger();
  private volatile CompletableFuture<Void> quiet = CompletableFuture.completedFuture(null);

  void begin() {
    underWay.incrementAndGet();
  }

  void end() {
    if (underWay.decrementAndGet() == 0) {
      quiet.complete(null);
    }
  }

  /** Completes when no operation is under way. To be called once no new one can begin. */
  CompletableFuture<Void> quiet() {
    CompletableFuture<Void> future = new CompletableFuture<>();
    quiet = future;
    if (underWay.get() == 0) {
      future.complete(null);
    }
    return future;
  }
}
