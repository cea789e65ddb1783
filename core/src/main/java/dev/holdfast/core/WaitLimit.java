package dev.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The time for which one caller waits for a lock. Immutable.
 *
 * @param clock measures the wait
 * @param startedAt when the call began, by the clock's nanoseconds
 * @param nanos the longest wait, 0 for a single attempt
 */
record WaitLimit(Clock clock, long startedAt, long nanos) {
  /** The interval of checks in {@link #await}, after the wait, for the last attempt's end. */
  private static final long MIN_AWAIT_NANOS = 10_000_000;

  static WaitLimit startingNow(Clock clock, long nanos) {
    return new WaitLimit(clock, clock.nanos(), nanos);
  }

  /** Returns whether the caller is willing to wait at all. */
  boolean waits() {
    return nanos > 0;
  }

  /** Returns whether the wait ends by itself. */
  boolean isFinite() {
    return waits() && nanos < Nanos.FOREVER;
  }

  boolean isOver() {
    return waited() >= nanos;
  }

  long waited() {
    return clock.nanos() - startedAt;
  }

  /** Returns the rest of the wait in nanoseconds, which is negative when the wait is over. */
  long left() {
    return nanos - waited();
  }

  /**
   * Waits for a result. The scheduler's timers end the wait, and this thread does, because the
   * scheduler may have been closed before.
   *
   * @param onOver completes the result if no attempt is in flight
   */
  <T> T await(CompletableFuture<T> result, Runnable onOver)
      throws InterruptedException, ExecutionException {
    while (isFinite()) {
      try {
        return result.get(Math.max(left(), MIN_AWAIT_NANOS), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        if (isOver()) {
          onOver.run();
        }
      }
    }
    return result.get();
  }
}
