package dev.holdfast.tck.rules;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that do the same thing at the same time, again and again. They wait for each other
 * without parking, because a thread that is woken comes late.
 */
final class Laps {
  /** More races than a test has. */
  private static final int MAX_RACES = 1_000;

  /** Longer than any race takes. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static final int SPINS = 200;

  private final int threads;
  private final AtomicInteger arrivals = new AtomicInteger();
  private final AtomicIntegerArray wonInLap = new AtomicIntegerArray(MAX_RACES);

  Laps(int threads) {
    this.threads = threads;
  }

  /**
   * Does something in each lap until it returned true on a thread. All threads call this for the
   * same races in the same order, and make the same laps.
   *
   * @param race its number, from 0
   */
  void untilOneWins(int race, Callable<Boolean> attempt) throws Exception {
    while (true) {
      int lap = awaitOthers();
      int won = wonInLap.get(race);
      if (won > 0 && won < lap) {
        return;
      }
      if (attempt.call()) {
        wonInLap.compareAndSet(race, 0, lap);
      }
    }
  }

  /** Returns the number of the lap, from 1, once all threads have come. */
  private int awaitOthers() {
    int lap = arrivals.getAndIncrement() / threads + 1;
    long begun = System.nanoTime();
    for (int spins = 0; arrivals.get() < lap * threads; spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(1_000);
      }
      if (Elapsed.since(begun).compareTo(LIMIT) > 0) {
        throw new AssertionError("another thread did not come within " + LIMIT);
      }
    }
    return lap;
  }
}
