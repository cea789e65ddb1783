package dev.holdfast.tck.rules;

import dev.holdfast.LockException;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Repeats a check that a correct manager may fail on a machine that stalls, and that a wrong
 * manager fails each time. A failure beside a stall shows nothing. It is not counted before {@link
 * #MAX_TIME} is over. A thread that is interrupted, because its test has taken too long, repeats
 * nothing.
 */
final class Retries {
  private static final int MAX_TRIES = 3;

  /** Two thirds of the short ttl of a backend in process: its time after a renewal is due. */
  private static final Duration STALL = Duration.ofMillis(200);

  /** A sixth of the time of a test in process, because the last try may take seconds. */
  private static final Duration MAX_TIME = Duration.ofSeconds(10);

  /** A stall of a tenth of a ttl leaves too little time for renewals in the rest of it. */
  private static final int PART_OF_A_STALL = 10;

  /** The longest time of a try: a test waits for a few of them, within 15 s. */
  private static final Duration LONGEST = Duration.ofSeconds(4);

  private Retries() {}

  /**
   * Returns after the first that goes well, and throws what the last one threw if none does. One
   * that throws an exception of the API's, or seems to show that another rule is broken, is tried
   * again, too.
   */
  static void anyOf(Eventually.Assertions check) {
    anyOf(Duration.ZERO, regardlessOfTime -> check.run());
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
    anyOf(time, check, Stalls::watched, MAX_TIME);
  }

  static void anyOf(Duration time, InTime check, Supplier<Stalls> watch, Duration maxTime) {
    long begun = System.nanoTime();
    Duration now = time;
    int quietFailures = 0;
    for (int tries = 1; ; tries++) {
      try (Stalls stalls = watch.get()) {
        try {
          run(check, now);
          return;
        } catch (AssertionError | AnotherRule.Broken | LockException e) {
          Duration stall = stalls.worst();
          quietFailures += stall.compareTo(STALL) < 0 ? 1 : 0;
          boolean isLate = tries >= MAX_TRIES && Elapsed.since(begun).compareTo(maxTime) > 0;
          if (quietFailures == MAX_TRIES || isLate || Thread.currentThread().isInterrupted()) {
            throw e;
          }
          IgnoredFailures.add(e);
          Duration twice = now.multipliedBy(2);
          if (stall.compareTo(now.dividedBy(PART_OF_A_STALL)) > 0 && twice.compareTo(LONGEST) < 0) {
            now = twice;
          }
        }
      }
    }
  }

  private static void run(InTime check, Duration time) {
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
