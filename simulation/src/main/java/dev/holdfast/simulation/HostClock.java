package dev.holdfast.simulation;

import dev.holdfast.core.Clock;

/**
 * A client's two clocks: both run a little fast or slow. One can be set, and the other can sleep.
 */
final class HostClock implements Clock {
  private static final long MILLION = 1_000_000;

  private final World world;
  private final long ppm;
  private long since;
  private long nanosThen;
  private long wallSince;
  private long wallThen;
  private long wallSetAt = -1;
  private boolean asleep;

  HostClock(World world) {
    this.world = world;
    this.ppm = world.random.nextLong(2 * world.rates.driftPpm + 1) - world.rates.driftPpm;
    this.since = world.now();
    this.nanosThen = world.random.nextLong(1L << 40);
    this.wallSince = since;
    long apart = 1_000 * world.rates.clocksApartMillis;
    this.wallThen = 1_800_000_000_000_000L + since + world.random.nextLong(2 * apart + 1) - apart;
  }

  @Override
  public long nanos() {
    long passed = world.now() - since;
    return asleep ? nanosThen : nanosThen + passed * 1_000 + passed * ppm / 1_000;
  }

  @Override
  public long wallMicros() {
    long passed = world.now() - wallSince;
    return wallThen + passed + passed * ppm / MILLION;
  }

  /** Returns the true time in which this clock advances by so much, rounded up. */
  long micros(long nanos) {
    return nanos <= 0 ? 0 : (nanos * 1_000 + MILLION + ppm - 1) / (MILLION + ppm);
  }

  /**
   * Returns the true time at which the wall clock was last set, or a negative number if it was not.
   */
  long wallSetAt() {
    return wallSetAt;
  }

  void setWall(long byMicros) {
    wallSetAt = world.now();
    wallThen = wallMicros() + byMicros;
    wallSince = world.now();
  }

  void sleep(boolean begins) {
    nanosThen = nanos();
    since = world.now();
    asleep = begins;
  }
}
