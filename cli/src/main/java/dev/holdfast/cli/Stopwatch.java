package dev.holdfast.cli;

import java.time.Duration;

/**
 * Time that passes.
 *
 * @param begun by {@link System#nanoTime()}
 */
record Stopwatch(long begun) {
  static Stopwatch started() {
    return new Stopwatch(System.nanoTime());
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - begun);
  }
}
