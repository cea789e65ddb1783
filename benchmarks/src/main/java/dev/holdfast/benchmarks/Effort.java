package dev.holdfast.benchmarks;

import java.time.Duration;

/**
 * How long is measured.
 *
 * @param rounds that count
 * @param quick whether what needs minutes is cut short
 */
record Effort(int rounds, boolean quick) {
  static final int ROUNDS = 7;
  static final int QUICK_ROUNDS = 3;

  /** So many rounds are run and forgotten, for the compilers. */
  int warmUps() {
    return quick ? 1 : 3;
  }

  /** One of two values. */
  int either(int full, int ifQuick) {
    return quick ? ifQuick : full;
  }

  /** One of two times. */
  Duration either(Duration full, Duration ifQuick) {
    return quick ? ifQuick : full;
  }
}
