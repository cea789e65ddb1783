package dev.holdfast.benchmarks;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Waiting for locks that leave the waiting to their users. */
public final class Polling {
  private static final long LEAST_NANOS = 1_000_000;

  private Polling() {}

  /**
   * Makes attempts until the lock is acquired.
   *
   * @param attempt returns whether the lock was acquired, and leaves nothing behind if not
   * @return whether the lock was acquired within {@link Terms#WAIT}
   * @throws Exception if an attempt threw it
   */
  public static boolean until(Attempt attempt) throws Exception {
    if (attempt.isGranted()) {
      return true;
    }
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < Terms.WAIT.toNanos()) {
      TimeUnit.NANOSECONDS.sleep(
          ThreadLocalRandom.current().nextLong(LEAST_NANOS, Terms.MAX_PAUSE.toNanos()));
      if (attempt.isGranted()) {
        return true;
      }
    }
    return false;
  }

  /** One attempt. */
  @FunctionalInterface
  public interface Attempt {
    /**
     * Makes one attempt.
     *
     * @return whether the lock was acquired
     * @throws Exception if that is unknown
     */
    boolean isGranted() throws Exception;
  }
}
