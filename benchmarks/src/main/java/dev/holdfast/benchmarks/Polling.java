package dev.holdfast.benchmarks;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Waiting for locks that leave the waiting to their users. */
public final class Polling {
  private static final long LEAST_NANOS = 1_000_000;

  private Polling() {}

  /**
   * Tries until the lock is got.
   *
   * @param attempt whether it was got, and nothing is left behind where it was not
   * @return whether it was got within {@link Terms#WAIT}
   * @throws Exception what an attempt threw
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
     * Tries once.
     *
     * @return whether the lock was got
     * @throws Exception if that cannot be told
     */
    boolean isGranted() throws Exception;
  }
}
