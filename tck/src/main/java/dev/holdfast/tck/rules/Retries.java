package dev.holdfast.tck.rules;

import dev.holdfast.LockException;
import java.time.Duration;

/**
 * Repeats a check that a correct manager may fail on a machine that stalls, and that a wrong
 * manager fails each time. A thread that is interrupted, because its test has taken too long,
 * repeats nothing.
 */
final class Retries {
  private static final int MAX_TRIES = 3;

  private Retries() {}

  /**
   * Returns after the first that goes well, and throws what the last one threw if none does. One
   * that throws an exception of the API's, or seems to show that another rule is broken, is tried
   * again, too.
   */
  static void anyOf(Eventually.Assertions once) {
    anyOf(Duration.ZERO, time -> once.run());
  }

  /** A check of something that takes this time. */
  interface InTime {
    void run(Duration time) throws Exception;
  }

  /**
   * Returns after the first that goes well, as {@link #anyOf(Eventually.Assertions)} does. Each has
   * twice the time of the one before, and so bears stalls that are twice as long.
   */
  static void anyOf(Duration time, InTime check) {
    Duration next = time;
    for (int i = 1; i < MAX_TRIES; i++) {
      try {
        run(next, check);
        return;
      } catch (AssertionError | AnotherRule.Broken | LockException e) {
        if (Thread.currentThread().isInterrupted()) {
          throw e;
        }
        IgnoredFailures.add(e);
        next = next.multipliedBy(2);
      }
    }
    run(next, check);
  }

  private static void run(Duration time, InTime check) {
    try {
      check.run(time);
    } catch (RuntimeException e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
