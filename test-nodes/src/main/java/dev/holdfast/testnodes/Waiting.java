package dev.holdfast.testnodes;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Bounded waits for something outside of this JVM, which can only be polled. */
final class Waiting {
  private static final long POLL_MILLIS = 2;

  private Waiting() {}

  /**
   * Waits until the condition holds. An interrupt does not end the wait, since a process that is
   * half started or half killed would be left behind. The flag is kept.
   *
   * @return whether the condition held within the limit
   */
  static boolean until(Duration limit, BooleanSupplier condition) {
    long deadline = System.nanoTime() + limit.toNanos();
    boolean interrupted = Thread.interrupted();
    try {
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - deadline >= 0) {
          return false;
        }
        try {
          Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
