package dev.holdfast.cli.process;

import java.time.Duration;

/**
 * Time that passes.
 *
 * @param begun by {@link System#nanoTime()}
 */
public record Stopwatch(long begun) {
  public static Stopwatch started() {
    return new Stopwatch(System.nanoTime());
  }

  public Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - begun);
  }
}
