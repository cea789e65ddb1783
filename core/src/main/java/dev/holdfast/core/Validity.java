package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import java.time.Duration;

/**
 * How long a lock that was asked for can be counted on: for its ttl, less what clocks may drift
 * apart in it; and how long others have to count with it. For backends whose locks are kept
 * elsewhere. Immutable.
 *
 * @param drift how far clocks may drift apart in a ttl, from 0 up to, but not including, 1
 * @param nodeTimeout how long a node may take to answer, above zero
 */
public record Validity(double drift, Duration nodeTimeout) {
  /** The Redlock page's reference implementations allow for this drift between clocks. */
  public static final double DEFAULT_DRIFT = 0.01;

  /** Redis keeps time in milliseconds: one for its rounding, one for ours; as the references do. */
  private static final long DRIFT_CONSTANT_NANOS = 2_000_000;

  /**
   * The end of validity.
   *
   * @param start before the first message was sent
   * @param ttl what was asked for
   * @return a moment of the same clock
   */
  public Moment until(Moment start, Duration ttl) {
    long nanos = ttl.toNanos();
    return start.plusNanos(nanos - driftOf(nanos));
  }

  /**
   * Refuses a ttl that would leave no validity after an attempt that takes as long as it may.
   *
   * @param ttl what is asked for
   * @throws LockConfigurationException saying what would do
   */
  public void requireUsable(Duration ttl) {
    long lost = driftOf(ttl.toNanos()) + Nanos.of(nodeTimeout);
    if (ttl.toNanos() <= lost) {
      throw new LockConfigurationException(
          "the ttl "
              + ttl.toMillis()
              + " ms is not above nodeTimeout and the allowance for drift, "
              + lost / 1_000_000
              + " ms together: ask for more");
    }
  }

  /**
   * After which a lock has expired, by every clock that drifts no more than this.
   *
   * @param ttl of the lock
   * @return from the moment at which its node took it
   */
  public Duration outlived(Duration ttl) {
    return ttl.plusNanos(driftOf(ttl.toNanos()));
  }

  private long driftOf(long ttlNanos) {
    return (long) Math.ceil(ttlNanos * drift) + DRIFT_CONSTANT_NANOS;
  }
}
