package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The terms that are the same for all contestants. Where a lock has no such setting, its own
 * applies.
 */
public final class Terms {
  /** The time to live of a lock, after which it ends if its holder dies. */
  public static final Duration TTL = Duration.ofSeconds(30);

  /** The longest time that a thread waits for a lock. */
  public static final Duration WAIT = Duration.ofSeconds(60);

  /** The number of connections to each server, for contestants with a pool. */
  public static final int POOL = 32;

  /** The time for which a lock is held in scenarios where threads want the same lock. */
  static final Duration HOLD = Duration.ofMillis(1);

  /** Between attempts, where a lock leaves the waiting to its user: a random part of these. */
  static final Duration MAX_PAUSE = Duration.ofMillis(5);

  private Terms() {}

  /**
   * Holds a lock.
   *
   * @return for how long, in nanoseconds
   */
  static long hold() {
    long begun = System.nanoTime();
    LockSupport.parkNanos(HOLD.toNanos());
    return System.nanoTime() - begun;
  }

  /** Returns the terms as sentences. */
  static List<String> text() {
    return List.of(
        "ttl " + TTL.toSeconds() + " s, and waits of at most " + WAIT.toSeconds() + " s",
        POOL + " connections to each server for contestants with a pool (raw Jedis, Redisson)",
        "one connection to each server for the others (raw Lettuce, Holdfast, Spring and ShedLock"
            + " on Lettuce)",
        "contestants without a wait of their own (raw drivers, ShedLock) try again after a random"
            + " time of up to "
            + TimeUnit.NANOSECONDS.toMillis(MAX_PAUSE.toNanos())
            + " ms",
        "all other settings have their defaults, except that Holdfast waits 10 s for a connection,"
            + " like Lettuce and Redisson");
  }
}
