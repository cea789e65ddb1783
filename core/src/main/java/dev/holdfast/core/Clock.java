package dev.holdfast.core;

import java.time.InstantSource;

/**
 * The source of time. Both readings are needed: no program sets the monotonic one, and the wall
 * clock goes on while a machine sleeps. Safe for use by many threads.
 */
public interface Clock {
  /**
   * Reads the monotonic clock.
   *
   * @return nanoseconds since an arbitrary time, to be compared by subtraction, as {@link
   *     System#nanoTime()}
   */
  long nanos();

  /**
   * Reads the wall clock.
   *
   * @return microseconds since 1970-01-01T00:00Z
   */
  long wallMicros();

  /**
   * Reads both clocks.
   *
   * @return the time by both clocks
   */
  default ClockReading now() {
    return new ClockReading(nanos(), wallMicros());
  }

  /**
   * Returns the machine's own clocks.
   *
   * @return the one that is used unless another is given
   */
  static Clock system() {
    return SystemClock.INSTANCE;
  }

  /**
   * Returns the machine's monotonic clock with another wall clock.
   *
   * @param wall the wall clock, safe for use by many threads
   * @return a new clock
   */
  static Clock withWall(InstantSource wall) {
    return new SystemClock(wall);
  }
}
