package dev.holdfast.tck.rules;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how long this machine keeps a thread waiting that is ready to run. A time that is
 * measured meanwhile may be longer by that, which is the fault of the machine alone.
 */
public final class Stalls implements AutoCloseable {
  /** Shorter than a stall that changes a result. */
  private static final long TICK_NANOS = 5_000_000;

  private final Thread thread = new Thread(this::watch, "stalls");
  private volatile long worstNanos;

  /** The time at which the thread last began to wait, zero before that. */
  private volatile long parkedAt;

  private volatile boolean closed;

  private Stalls() {}

  /** Watches nothing, and returns this time as the longest stall: none can be made in a test. */
  Stalls(Duration worst) {
    this.worstNanos = worst.toNanos();
  }

  public static Stalls watched() {
    Stalls stalls = new Stalls();
    stalls.thread.setDaemon(true);
    stalls.thread.start();
    return stalls;
  }

  /** Returns the longest stall so far, also one that lasts. */
  public Duration worst() {
    long parked = parkedAt;
    long present = parked == 0 ? 0 : System.nanoTime() - parked - TICK_NANOS;
    return Duration.ofNanos(Math.max(worstNanos, present));
  }

  @Override
  public void close() {
    closed = true;
  }

  private void watch() {
    while (!closed) {
      long before = System.nanoTime();
      parkedAt = before;
      LockSupport.parkNanos(TICK_NANOS);
      worstNanos = Math.max(worstNanos, System.nanoTime() - before - TICK_NANOS);
    }
  }
}
