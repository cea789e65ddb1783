package dev.holdfast.legacy.setnx;

import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.Validity;
import java.time.Duration;

/**
 * The settings of the old pattern.
 *
 * @param format the format of the time stamps
 * @param alwaysDeletes whether a release deletes the key even if its own stamp has passed
 * @param keyPrefix the part of a key before the name of the lock
 * @param clockMargin the time that a stamp must have left to be extended
 * @param nodeTimeout how long an attempt may go unanswered before waiters behind it report an
 *     outage
 * @param quorumTimeout how long an operation may take, not below {@code nodeTimeout}
 * @param connectTimeout how long connecting may take
 * @param clock the clock by whose wall time stamps are written and compared
 */
record Settings(
    StampFormat format,
    boolean alwaysDeletes,
    KeyPrefix keyPrefix,
    Duration clockMargin,
    Duration nodeTimeout,
    Duration quorumTimeout,
    Duration connectTimeout,
    Clock clock) {
  Settings {
    quorumTimeout = quorumTimeout.compareTo(nodeTimeout) < 0 ? nodeTimeout : quorumTimeout;
  }

  Validity validity() {
    return new Validity(Validity.DEFAULT_DRIFT);
  }
}
