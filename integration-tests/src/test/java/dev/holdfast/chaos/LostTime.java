package dev.holdfast.chaos;

import java.util.concurrent.locks.LockSupport;

/**
 * How long this process has stood still so far, because it was stopped or got no processor: by a
 * thread that wants to run each millisecond, and notes how much later it does.
 */
final class LostTime {
  private static final long TICK_NANOS = 1_000_000;

  /** Timers are as late as that on a machine that has nothing else to do. */
  private static final long USUAL_NANOS = 3_000_000;

  private long nanos;
  private long lastTick = System.nanoTime();

  private LostTime() {}

  static LostTime watched() {
    LostTime lost = new LostTime();
    Thread thread = new Thread(lost::watch, "lost-time");
    thread.setDaemon(true);
    thread.start();
    return lost;
  }

  /** Up to now, what is being lost just now included. */
  synchronized long nanos() {
    return nanos + lateBy(System.nanoTime());
  }

  private void watch() {
    while (true) {
      LockSupport.parkNanos(TICK_NANOS);
      tick();
    }
  }

  private synchronized void tick() {
    long now = System.nanoTime();
    nanos += lateBy(now);
    lastTick = now;
  }

  private long lateBy(long now) {
    long late = now - lastTick - TICK_NANOS;
    return late > USUAL_NANOS ? late : 0;
  }
}
