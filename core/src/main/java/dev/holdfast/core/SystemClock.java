package dev.holdfast.core;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/**
 * The machine's monotonic clock, with a wall clock.
 *
 * @param wall by default the machine's
 */
record SystemClock(InstantSource wall) implements Clock {
  /** Both clocks of the machine. */
  static final Clock INSTANCE = new SystemClock(InstantSource.system());

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long wallMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, wall.instant());
  }
}
