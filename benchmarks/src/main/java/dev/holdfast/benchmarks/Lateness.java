package dev.holdfast.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how late a thread wakes up that only sleeps. This is the part of the longest waits of
 * other threads that the machine causes.
 */
final class Lateness implements AutoCloseable {
  private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Thread sleeper = new Thread(this::watch, "lateness");
  private volatile boolean over;
  private volatile long worst;

  private Lateness() {}

  /** Begins to watch. */
  static Lateness watched() {
    Lateness lateness = new Lateness();
    lateness.sleeper.setDaemon(true);
    lateness.sleeper.start();
    return lateness;
  }

  private void watch() {
    while (!over) {
      long from = System.nanoTime();
      LockSupport.parkNanos(this, SLEEP_NANOS);
      worst = Math.max(worst, System.nanoTime() - from - SLEEP_NANOS);
    }
  }

  /** Returns the longest delay so far. */
  double worstMillis() {
    return worst / 1e6;
  }

  @Override
  public void close() {
    over = true;
  }
}
