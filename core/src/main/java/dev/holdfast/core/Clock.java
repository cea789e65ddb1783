package dev.holdfast.core;

/**
 * The source of time. Both readings are needed: the monotonic one is not moved by anybody, and the
 * wall clock goes on while a machine sleeps. Safe for use by many threads.
 */
public interface Clock {
  /**
   * Monotonic time.
   *
   * @return nanoseconds since some arbitrary moment, to be compared by subtraction, as {@link
   *     System#nanoTime()}
   */
  long nanos();

  /**
   * Wall-clock time.
   *
   * @return microseconds since 1970-01-01T00:00Z
   */
  long wallMicros();

  /**
   * Both at once.
   *
   * @return this moment
   */
  default ClockReading now() {
    return new ClockReading(nanos(), wallMicros());
  }

  /**
   * The machine's own clocks.
   *
   * @return the one that is used unless another is given
   */
  static Clock system() {
    return SystemClock.INSTANCE;
  }
}
