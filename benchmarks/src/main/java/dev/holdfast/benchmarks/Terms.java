package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What is the same for all that are measured. Where a lock has no such setting, its own applies.
 */
public final class Terms {
  /** How long a lock lives if its holder dies. */
  public static final Duration TTL = Duration.ofSeconds(30);

  /** How long a lock is waited for. */
  public static final Duration WAIT = Duration.ofSeconds(60);

  /** How many connections to each server, where there is a pool. */
  public static final int POOL = 32;

  /** How long a lock is held where threads want the same one. */
  static final Duration HOLD = Duration.ofMillis(1);

  /** Between attempts, where a lock leaves the waiting to its user: a random part of these. */
  static final Duration MOST_PAUSE = Duration.ofMillis(5);

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

  /** As sentences. */
  static List<String> text() {
    return List.of(
        "ttl " + TTL.toSeconds() + " s; waits " + WAIT.toSeconds() + " s at most",
        POOL + " connections to each server where there is a pool (raw Jedis, Redisson)",
        "one connection to each server elsewhere (raw Lettuce, ours, Spring and ShedLock on"
            + " Lettuce)",
        "what has no waiting of its own (raw drivers, ShedLock) tries again after up to "
            + TimeUnit.NANOSECONDS.toMillis(MOST_PAUSE.toNanos())
            + " ms, at random",
        "all else as each has it by default; but ours waits 10 s for a connection, as Lettuce and"
            + " Redisson do");
  }
}
