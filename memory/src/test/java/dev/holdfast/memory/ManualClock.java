package dev.holdfast.memory;

import dev.holdfast.core.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Both clocks stand still until a test moves them. */
final class ManualClock implements Clock {
  private final AtomicLong nanos = new AtomicLong(1_000_000_007L);
  private final AtomicLong wallNanos = new AtomicLong(1_700_000_000_000_000_000L);

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public long wallMicros() {
    return wallNanos.get() / 1000;
  }

  void advance(Duration time) {
    nanos.addAndGet(time.toNanos());
    setWall(time);
  }

  /** Sets the wall clock, as an administrator does, or as it looks when the machine slept. */
  void setWall(Duration by) {
    wallNanos.addAndGet(by.toNanos());
  }
}
