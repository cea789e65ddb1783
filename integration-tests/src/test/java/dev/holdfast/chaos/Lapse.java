package dev.holdfast.chaos;

import dev.holdfast.testsupport.Eventually;
import java.time.Duration;

/** Real time that has to pass, because a fault lasts for so long, or a run. */
final class Lapse {
  private static final Duration LATE = Duration.ofMinutes(1);

  private Lapse() {}

  static void of(Duration time) {
    until(System.nanoTime() + time.toNanos());
  }

  /** Until {@link System#nanoTime} has come to this. */
  static void until(long nanoTime) {
    Duration left = Duration.ofNanos(Math.max(0, nanoTime - System.nanoTime()));
    Eventually.within(left.plus(LATE)).until(() -> System.nanoTime() - nanoTime >= 0);
  }
}
