package dev.holdfast.core;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The machine's own clocks. */
enum SystemClock implements Clock {
  /** The only one. */
  INSTANCE;

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long wallMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }
}
