package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import java.time.Duration;
import java.util.Map;

/**
 * The time for which a holder can rely on a lock: its ttl, less the drift of clocks in that time.
 * Also the time for which other owners must expect the lock. For backends whose locks are kept
 * elsewhere. Immutable.
 *
 * @param drift how far clocks may drift apart in a ttl, from 0 up to, but not including, 1
 */
public record Validity(double drift) {
  /** The Redlock page's reference implementations allow for this drift between clocks. */
  public static final double DEFAULT_DRIFT = 0.01;

  /** Redis keeps time in milliseconds: one for its rounding, one for ours, as the references do. */
  private static final long DRIFT_CONSTANT_NANOS = 2_000_000;

  /**
   * Returns the end of validity.
   *
   * @param start before the first message was sent
   * @param ttl the requested ttl
   * @return a reading of the same clock
   */
  public ClockReading until(ClockReading start, Duration ttl) {
    long nanos = ttl.toNanos();
    return start.plusNanos(nanos - driftOf(nanos));
  }

  /**
   * Refuses a ttl that the allowance for drift uses up alone.
   *
   * @param ttl the requested ttl
   * @throws LockConfigurationException saying what would do
   */
  public void requireUsable(Duration ttl) {
    long drifted = driftOf(ttl.toNanos());
    if (ttl.toNanos() <= drifted) {
      throw new LockConfigurationException(
          "the ttl %d ms is not above the allowance for drift, %d ms: ask for more"
              .formatted(ttl.toMillis(), -Math.floorDiv(-drifted, 1_000_000)));
    }
  }

  /**
   * Makes the error of a lock that was granted when its validity was over. That is no contention,
   * because no other owner holds the lock.
   *
   * @param name the name of the lock
   * @param ttl the ttl of the request
   * @return a new error
   */
  public static LockOutageException tooLate(String name, Duration ttl) {
    return new LockOutageException(
        "'%s' was granted when its ttl of %d ms was over: ask for a longer ttl, or find out why answers are late"
            .formatted(name, ttl.toMillis()),
        Map.of(),
        false);
  }

  /**
   * Returns the time after which a lock has expired by every clock within this drift.
   *
   * @param ttl of the lock
   * @return from the time at which its node granted it
   */
  public Duration outlived(Duration ttl) {
    return ttl.plusNanos(driftOf(ttl.toNanos()));
  }

  private long driftOf(long ttlNanos) {
    return (long) Math.ceil(ttlNanos * drift) + DRIFT_CONSTANT_NANOS;
  }
}
