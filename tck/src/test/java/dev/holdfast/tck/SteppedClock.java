package dev.holdfast.tck;

import dev.holdfast.core.Clock;
import dev.holdfast.tck.env.TckClock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The machine's clocks, of which the wall clock can be set. */
public final class SteppedClock implements Clock, TckClock {
  private final AtomicLong aheadMicros = new AtomicLong();

  /** A clock that is right. */
  public SteppedClock() {}

  @Override
  public long nanos() {
    return Clock.system().nanos();
  }

  @Override
  public long wallMicros() {
    return Clock.system().wallMicros() + aheadMicros.get();
  }

  @Override
  public void step(Duration by) {
    aheadMicros.addAndGet(TimeUnit.NANOSECONDS.toMicros(by.toNanos()));
  }

  /** Makes it right again. */
  public void reset() {
    aheadMicros.set(0);
  }
}
