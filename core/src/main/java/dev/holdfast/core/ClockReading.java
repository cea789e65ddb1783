package dev.holdfast.core;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A point in time as both clocks of one {@link Clock} show it. The time between two readings is the
 * larger of the two differences, because validity also ends while a machine sleeps, whose monotonic
 * clock stands still. So a time that is measured with it ends too early rather than too late, also
 * when the wall clock is set.
 *
 * @param nanos {@link Clock#nanos()}
 * @param wallMicros {@link Clock#wallMicros()}
 */
public record ClockReading(long nanos, long wallMicros) {
  /**
   * Returns the time from an earlier reading to this one.
   *
   * @param earlier an earlier reading
   * @return nanoseconds, the larger of monotonic and wall-clock time, negative if this reading is
   *     the earlier one
   */
  public long nanosSince(ClockReading earlier) {
    return Math.max(nanos - earlier.nanos, (wallMicros - earlier.wallMicros) * 1000);
  }

  /**
   * Returns the time from this reading until a later one: the smaller of the two differences.
   *
   * @param later a later reading
   * @return nanoseconds, zero or less if it has passed by either clock
   */
  public long nanosUntil(ClockReading later) {
    return -nanosSince(later);
  }

  /**
   * Returns the earlier of two ends, for each clock separately. The time that is left until it is
   * the smaller one of the times that are left until both.
   *
   * @param other another end
   * @return this or the other by one clock, and this or the other by the other clock
   */
  public ClockReading earlier(ClockReading other) {
    return new ClockReading(
        nanos - other.nanos < 0 ? nanos : other.nanos, Math.min(wallMicros, other.wallMicros));
  }

  /**
   * Returns the wall-clock time of this reading.
   *
   * @return to the microsecond
   */
  public Instant instant() {
    return Instant.EPOCH.plus(wallMicros, ChronoUnit.MICROS);
  }

  /**
   * Returns a later point in time.
   *
   * @param delay nanoseconds. The microseconds are rounded down, to the safe side
   * @return this reading, later by the delay
   */
  public ClockReading plusNanos(long delay) {
    return new ClockReading(nanos + delay, wallMicros + Math.floorDiv(delay, 1000));
  }
}
