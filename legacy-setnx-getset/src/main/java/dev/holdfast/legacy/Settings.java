package dev.holdfast.legacy;

import dev.holdfast.core.Clock;
import java.time.Duration;

/**
 * How the pattern is run.
 *
 * @param format of the time stamps
 * @param alwaysDeletes whether a release deletes the key even if its own stamp has passed
 * @param keyPrefix before the name of each lock
 * @param clockMargin what must be left of a stamp that is to be extended
 * @param nodeTimeout how long an operation may take
 * @param connectTimeout how long connecting may take
 * @param clock whose wall clock stamps are written and compared by
 */
record Settings(
    StampFormat format,
    boolean alwaysDeletes,
    String keyPrefix,
    Duration clockMargin,
    Duration nodeTimeout,
    Duration connectTimeout,
    Clock clock) {
  /** Reference implementations of Redlock allow for this part of a ttl, and 2 ms. */
  private static final int DRIFT_DIVISOR = 100;

  private static final Duration DRIFT_CONSTANT = Duration.ofMillis(2);

  /** What clocks may drift apart in a ttl. */
  static Duration driftOf(Duration ttl) {
    return ttl.dividedBy(DRIFT_DIVISOR).plus(DRIFT_CONSTANT);
  }
}
