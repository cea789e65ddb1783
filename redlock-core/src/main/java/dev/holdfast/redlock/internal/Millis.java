package dev.holdfast.redlock.internal;

import java.time.Duration;

/** Converts durations to milliseconds, the unit of Redis. */
public final class Millis {
  private Millis() {}

  /** Rounds up: a key that lives longer than the validity is safe. */
  public static long of(Duration duration) {
    return (duration.toNanos() + 999_999) / 1_000_000;
  }
}
