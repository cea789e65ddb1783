package dev.holdfast.cli.tck;

import java.util.Locale;

/** The outcome of a test, or of a rule. */
enum TckOutcome {
  FAILED,
  PASSED,

  /** Not shown, for a reason that is reported: no such node, no time, not declared. */
  NOT_SHOWN;

  /** Returns words for people. */
  String words() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Returns a word for programs. */
  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
