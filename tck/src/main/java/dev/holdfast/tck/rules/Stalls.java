package dev.holdfast.tck.rules;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Watches how long this machine keeps a thread waiting that is ready to run. A time that was
 * measured while it watched may be longer by that, and nobody but the machine is to blame.
 */
public final class Stalls implements AutoCloseable {
  private static final long TICK_NANOS = 500_000;

  private final Thread thread = new Thread(this::watch, "stalls");
  private volatile long worstNanos;
  private volatile boolean closed;

  private Stalls() {}

  public static Stalls watched() {
    Stalls stalls = new Stalls();
    stalls.thread.setDaemon(true);
    stalls.thread.start();
    return stalls;
  }

  /** The longest so far. */
  public Duration worst() {
    return Duration.ofNanos(worstNanos);
  }

  @Override
  public void close() {
    closed = true;
  }

  private void watch() {
    while (!closed) {
      long before = System.nanoTime();
      LockSupport.parkNanos(TICK_NANOS);
      worstNanos = Math.max(worstNanos, System.nanoTime() - before - TICK_NANOS);
    }
  }
}
