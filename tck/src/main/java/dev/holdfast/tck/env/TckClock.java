package dev.holdfast.tck.env;

import java.time.Duration;

/** The wall clock of the managers that an environment opens. Their monotonic clock is not moved. */
@FunctionalInterface
public interface TckClock {
  /**
   * Sets it ahead, or back, once.
   *
   * @param by below zero to set it back
   */
  void step(Duration by);
}
