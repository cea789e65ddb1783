package dev.holdfast.tck.rules;

import dev.holdfast.LockException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Repeats a check that a correct manager may fail on a machine that stalls, and that a wrong
 * manager fails each time. A thread that is interrupted, because its test has taken too long,
 * repeats nothing.
 */
final class Retries {
  private static final int MAX_TRIES = 3;

  /** A stall of a tenth of a ttl leaves too little time for renewals in the rest of it. */
  private static final int PART_OF_A_STALL = 10;

  private Retries() {}

  /**
   * Returns after the first that goes well, and throws what the last one threw if none does. One
   * that throws an exception of the API's, or seems to show that another rule is broken, is tried
   * again, too.
   */
  static void anyOf(Eventually.Assertions once) {
    for (int i = 1; i < MAX_TRIES; i++) {
      try {
        run(once);
        return;
      } catch (AssertionError | AnotherRule.Broken | LockException e) {
        if (Thread.currentThread().isInterrupted()) {
          throw e;
        }
        IgnoredFailures.add(e);
      }
    }
    run(once);
  }

  /** A check of something that takes this time. */
  interface InTime {
    void run(Duration time) throws Exception;
  }

  /**
   * Returns after the first that goes well, as {@link #anyOf(Eventually.Assertions)} does. After a
   * try during which the machine stalled for a part of the time, the next one has twice the time.
   */
  static void anyOf(Duration time, InTime check) {
    AtomicReference<Duration> next = new AtomicReference<>(time);
    anyOf(
        () -> {
          Duration now = Objects.requireNonNull(next.get());
          try (Stalls stalls = Stalls.watched()) {
            try {
              check.run(now);
            } finally {
              if (stalls.worst().compareTo(now.dividedBy(PART_OF_A_STALL)) > 0) {
                next.set(now.multipliedBy(2));
              }
            }
          }
        });
  }

  private static void run(Eventually.Assertions once) {
    try {
      once.run();
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
