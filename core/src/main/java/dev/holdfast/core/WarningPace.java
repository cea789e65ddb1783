package dev.holdfast.core;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Limits warnings of what is counted: the first is given at once, and then one for each period in
 * which anything was counted. More hide the trouble. Safe for use by many threads.
 */
final class WarningPace {
  private final Scheduler scheduler;
  private final long periodNanos;
  private final BooleanSupplier isDue;
  private final Runnable warn;
  private final AtomicBoolean isPausing = new AtomicBoolean();

  /**
   * @param isDue whether anything was counted since the last warning
   * @param warn warns of it, and counts from zero again
   */
  WarningPace(Scheduler scheduler, long periodNanos, BooleanSupplier isDue, Runnable warn) {
    this.scheduler = scheduler;
    this.periodNanos = periodNanos;
    this.isDue = isDue;
    this.warn = warn;
  }

  /** Warns now, or when the period is over. Called after something was counted. */
  void onCounted() {
    if (!isPausing.get() && isPausing.compareAndSet(false, true)) {
      try {
        warn.run();
      } finally { // a logger that throws must not end the warnings
        pause();
      }
    }
  }

  private void pause() {
    boolean begun = false;
    try {
      scheduler.schedule(periodNanos, this::afterPause);
      begun = true;
    } finally {
      if (!begun) {
        isPausing.set(false); // out of memory, for example: the next count tries again
      }
    }
  }

  private void afterPause() {
    isPausing.set(false);
    if (isDue.getAsBoolean()) {
      onCounted();
    }
  }
}
