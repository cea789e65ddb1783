package dev.holdfast.benchmarks;

import java.time.Duration;

/**
 * The amount of measuring in a run.
 *
 * @param rounds that count
 * @param quick whether what needs minutes is cut short
 */
record Effort(int rounds, boolean quick) {
  static final int ROUNDS = 7;
  static final int QUICK_ROUNDS = 3;

  /**
   * Returns the number of rounds that run first and do not count, so that the compilers have done
   * their work.
   */
  int warmUps() {
    return quick ? 1 : 3;
  }

  /** Returns the value of a full run or of a quick one. */
  int either(int full, int ifQuick) {
    return quick ? ifQuick : full;
  }

  /** Returns the time of a full run or of a quick one. */
  Duration either(Duration full, Duration ifQuick) {
    return quick ? ifQuick : full;
  }
}
