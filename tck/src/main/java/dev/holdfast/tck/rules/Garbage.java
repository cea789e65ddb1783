package dev.holdfast.tck.rules;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Collects garbage, which stops all threads of this process: seldom enough for the leases of other
 * tests to be renewed meanwhile.
 */
final class Garbage {
  private static final long PAUSE_NANOS = 400_000_000;

  private static final AtomicLong NEXT = new AtomicLong(System.nanoTime());
  private static final AtomicLong COLLECTIONS = new AtomicLong();

  private Garbage() {}

  /** Collects garbage, unless this process did so less than the pause ago. Callers repeat it. */
  static void collect() {
    long next = NEXT.get();
    long now = System.nanoTime();
    if (now - next < 0 || !NEXT.compareAndSet(next, now + PAUSE_NANOS)) {
      return;
    }
    System.gc();
    COLLECTIONS.incrementAndGet();
    NEXT.set(System.nanoTime() + PAUSE_NANOS);
  }

  /** Returns how many collections have ended so far. */
  static long collections() {
    return COLLECTIONS.get();
  }
}
