package dev.holdfast.tck.rules;

import java.time.Duration;

/** Time that has passed, by the monotonic clock. */
final class Elapsed {
  private Elapsed() {}

  /** Returns the time that has passed since {@link System#nanoTime} was this. */
  static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }
}
