package dev.holdfast.tck.rules;

import dev.holdfast.LockException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Repeats a check that a correct manager may fail on a machine that stalls, and that a wrong
 * manager fails each time. A failure beside a stall shows nothing, so that it is not counted, for a
 * while. A thread that is interrupted, because its test has taken too long, repeats nothing.
 */
final class Retries {
  private static final int MAX_TRIES = 3;

  /** The rest of the shortest ttl when its first renewal is due. Stalls come in groups. */
  private static final Duration STALL = Duration.ofMillis(200);

  /** A fifth of what a test over servers may take, as its last try may take seconds. */
  private static final Duration MAX_TIME = Duration.ofSeconds(20);

  private Retries() {}

  /**
   * Returns after the first that goes well, and throws what the last one threw if none does. One
   * that throws an exception of the API's, or seems to show that another rule is broken, is tried
   * again, too.
   */
  static void anyOf(Eventually.Assertions once) {
    anyOf(once, Stalls::watched, MAX_TIME);
  }

  static void anyOf(Eventually.Assertions once, Supplier<Stalls> watch, Duration maxTime) {
    long begun = System.nanoTime();
    int quietFailures = 0;
    for (int tries = 1; ; tries++) {
      try (Stalls stalls = watch.get()) {
        try {
          run(once);
          return;
        } catch (AssertionError | AnotherRule.Broken | LockException e) {
          quietFailures += stalls.worst().compareTo(STALL) < 0 ? 1 : 0;
          boolean isLate = tries >= MAX_TRIES && Elapsed.since(begun).compareTo(maxTime) > 0;
          if (quietFailures == MAX_TRIES || isLate || Thread.currentThread().isInterrupted()) {
            throw e;
          }
          IgnoredFailures.add(e);
        }
      }
    }
  }

  /** A check of something that takes this time. */
  interface InTime {
    void run(Duration time) throws Exception;
  }

  /**
   * Returns after the first that goes well, as {@link #anyOf(Eventually.Assertions)} does. Each try
   * has twice the time of the one before, because a busy machine may need it.
   */
  static void anyOf(Duration time, InTime check) {
    AtomicReference<Duration> next = new AtomicReference<>(time);
    anyOf(
        () -> {
          Duration now = Objects.requireNonNull(next.get());
          if (now.compareTo(MAX_TIME) < 0) {
            next.set(now.multipliedBy(2));
          }
          check.run(now);
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
