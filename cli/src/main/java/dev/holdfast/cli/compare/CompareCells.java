package dev.holdfast.cli.compare;

import java.time.Duration;
import java.util.Optional;

/**
 * The measured values. A value that has no meaning in a scenario is empty.
 *
 * @param twoOwners whether two leases said at the same time that they were held
 * @param holderKnows whether a holder that came late knew that its lease was over
 * @param unavailable how long no owner got a lock
 */
record CompareCells(
    Optional<Boolean> twoOwners,
    Optional<Boolean> holderKnows,
    Optional<Duration> unavailable,
    Optional<Double> grantsPerSecond,
    Optional<Double> commandsPerGrant) {
  private static final CompareCells NONE =
      new CompareCells(
          Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

  static CompareCells unavailable(Duration time) {
    return NONE.withUnavailable(time);
  }

  static CompareCells twoOwners(boolean seen) {
    return new CompareCells(
        Optional.of(seen), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  static CompareCells contention(boolean twoOwners, double grants, double commands) {
    return new CompareCells(
        Optional.of(twoOwners),
        Optional.empty(),
        Optional.empty(),
        Optional.of(grants),
        Optional.of(commands));
  }

  CompareCells withUnavailable(Duration time) {
    return new CompareCells(
        twoOwners, holderKnows, Optional.of(time), grantsPerSecond, commandsPerGrant);
  }

  CompareCells withHolderKnows(boolean knows) {
    return new CompareCells(
        twoOwners, Optional.of(knows), unavailable, grantsPerSecond, commandsPerGrant);
  }
}
