package dev.holdfast.legacy.setnx;

import java.util.concurrent.TimeUnit;

/** Holds work back to so much a second, on the average since it began. */
final class RateLimit {
  private final double nanosEach;
  private final long begun = System.nanoTime();
  private long done;

  RateLimit(int perSecond) {
    nanosEach = (double) TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /** Waits until so much more may have been done. */
  void after(long more) throws InterruptedException {
    done += more;
    TimeUnit.NANOSECONDS.sleep(begun + (long) (done * nanosEach) - System.nanoTime());
  }

  long done() {
    return done;
  }
}
