package dev.holdfast.redlock;

import java.time.Duration;

/** What Redis counts in. */
final class Millis {
  private Millis() {}

  /** Rounded up: a key that lives longer than the validity is safe. */
  static long of(Duration duration) {
    return (duration.toNanos() + 999_999) / 1_000_000;
  }
}
