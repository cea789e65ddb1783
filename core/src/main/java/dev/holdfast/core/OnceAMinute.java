package dev.holdfast.core;

/** Lets one warning a minute through: it names the trouble, and more hide it. */
final class OnceAMinute {
  private static final long PERIOD_NANOS = 60_000_000_000L;

  private boolean hasWarned;
  private long warnedAt;

  /**
   * Returns whether the warning may be logged now, and counts it as logged then.
   *
   * @param now the present time, by the clock's nanoseconds
   */
  synchronized boolean tryLog(long now) {
    boolean isDue = !hasWarned || now - warnedAt >= PERIOD_NANOS;
    if (isDue) {
      hasWarned = true;
      warnedAt = now;
    }
    return isDue;
  }
}
