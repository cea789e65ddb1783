package dev.holdfast.legacy.setnx;

import dev.holdfast.core.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A machine's clocks, which stand still until a test moves them. */
public final class HandClock implements Clock {
  /** At three tenths of a second, so that rounding shows. */
  static final long START_SECONDS = 1_800_000_000L;

  private static final long START_MICROS = START_SECONDS * 1_000_000 + 300_000;

  private final AtomicLong micros;

  private HandClock(long micros) {
    this.micros = new AtomicLong(micros);
  }

  public static HandClock atStart() {
    return new HandClock(START_MICROS);
  }

  /** The time stamp of so many seconds after the start, or before it if they are negative. */
  static String stamp(int seconds) {
    return Long.toString(START_SECONDS + seconds);
  }

  /** That of another machine, which shows another time. */
  HandClock ahead(Duration by) {
    return new HandClock(micros.get() + by.toNanos() / 1_000);
  }

  public void pass(Duration time) {
    micros.addAndGet(time.toNanos() / 1_000);
  }

  @Override
  public long nanos() {
    return (micros.get() - START_MICROS) * 1_000;
  }

  @Override
  public long wallMicros() {
    return micros.get();
  }
}
