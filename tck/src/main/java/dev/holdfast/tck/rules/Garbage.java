package dev.holdfast.tck.rules;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The garbage collections of this process, at least 400 ms apart. They stop all threads, and the
 * leases of other tests have to be renewed between them.
 */
final class Garbage {
  private static final long PAUSE_NANOS = 400_000_000;

  /** Longer than a collection takes. */
  private static final long LONG_NANOS = 60_000_000_000L;

  private static final AtomicLong NEXT = new AtomicLong(System.nanoTime());
  private static final AtomicLong COLLECTIONS = new AtomicLong();

  private Garbage() {}

  /** Collects garbage, unless this process did so less than the pause ago. Callers repeat it. */
  static void collect() {
    long next = NEXT.get();
    long now = System.nanoTime();
    if (now - next < 0 || !NEXT.compareAndSet(next, now + LONG_NANOS)) {
      return;
    }
    try {
      System.gc();
      COLLECTIONS.incrementAndGet();
    } finally {
      NEXT.set(System.nanoTime() + PAUSE_NANOS);
    }
  }

  /** Returns how many collections have ended so far. */
  static long collections() {
    return COLLECTIONS.get();
  }
}
