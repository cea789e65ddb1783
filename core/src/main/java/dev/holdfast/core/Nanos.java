package dev.holdfast.core;

import java.time.Duration;

/** Durations as nanoseconds that can be added to a clock's reading without overflow. */
final class Nanos {
  /** About 73 years: longer than any wait, and far from where a sum of two overflows. */
  static final long FOREVER = Long.MAX_VALUE / 4;

  private static final Duration LONGEST = Duration.ofNanos(FOREVER);

  private Nanos() {}

  static long of(Duration duration) {
    return duration.compareTo(LONGEST) >= 0 ? FOREVER : duration.toNanos();
  }
}
