package dev.holdfast.core;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A moment as both clocks of one {@link Clock} show it. What has elapsed between two moments is the
 * larger of what the two clocks say, because a machine that slept, whose monotonic clock stood
 * still, has spent its validity anyway. So a time that is measured with it ends too early rather
 * than too late, also when the wall clock is set.
 *
 * @param nanos {@link Clock#nanos()}
 * @param wallMicros {@link Clock#wallMicros()}
 */
public record ClockReading(long nanos, long wallMicros) {
  /**
   * Returns the time from an earlier reading to this one.
   *
   * @param earlier an earlier moment
   * @return nanoseconds, the larger of monotonic and wall-clock time; negative if this moment is
   *     the earlier one
   */
  public long nanosSince(ClockReading earlier) {
    return Math.max(nanos - earlier.nanos, (wallMicros - earlier.wallMicros) * 1000);
  }

  /**
   * Returns the time from this reading until a later one: the smaller of what the two clocks say.
   *
   * @param later a later moment
   * @return nanoseconds; zero or less if it has passed by either clock
   */
  public long nanosUntil(ClockReading later) {
    return -nanosSince(later);
  }

  /**
   * The earlier of two ends, by each clock: what is left until it is the smaller of what is left
   * until both.
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
   * A later moment.
   *
   * @param delay nanoseconds; the microseconds are rounded down, to the safe side
   * @return this moment moved by the delay
   */
  public ClockReading plusNanos(long delay) {
    return new ClockReading(nanos + delay, wallMicros + Math.floorDiv(delay, 1000));
  }
}
