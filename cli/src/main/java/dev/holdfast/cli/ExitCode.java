package dev.holdfast.cli;

/** What the command ends with: the numbers of sysexits.h, and what shells use for commands. */
final class ExitCode {
  static final int OK = 0;

  /** A question was answered, and the answer is no. */
  static final int NO = 1;

  /** The demo saw what a lock must prevent. */
  static final int VIOLATED = 1;

  /** EX_USAGE: bad usage, URL or configuration. */
  static final int USAGE = 64;

  /** EX_UNAVAILABLE: no quorum of nodes, or no servers for one. */
  static final int UNAVAILABLE = 69;

  /** EX_SOFTWARE: a mistake in this program. */
  static final int SOFTWARE = 70;

  /** EX_TEMPFAIL: the lock was not got in time. */
  static final int NOT_GOT = 75;

  /** EX_PROTOCOL: the lock was lost while the command ran. */
  static final int LOST = 76;

  /** The command was found and cannot be executed. */
  static final int NOT_EXECUTABLE = 126;

  /** The command was not found. */
  static final int NOT_FOUND = 127;

  private static final int SIGNAL = 128;

  private ExitCode() {}

  static int ofSignal(int number) {
    return SIGNAL + number;
  }
}
