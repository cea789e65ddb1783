package dev.holdfast.cli;

import java.util.Locale;

/** What came of a test, or of a rule. */
enum TckOutcome {
  FAILED,
  PASSED,
  SKIPPED,
  NOT_RUN;

  /** For people. */
  String words() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** For programs. */
  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
