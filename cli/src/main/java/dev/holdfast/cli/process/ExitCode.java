package dev.holdfast.cli.process;

/** The exit codes of the command: the numbers of sysexits.h, and what shells use for commands. */
public final class ExitCode {
  public static final int OK = 0;

  /** A question was answered, and the answer is no. */
  public static final int NO = 1;

  /** The demo saw what a lock must prevent. */
  public static final int VIOLATED = 1;

  /** EX_USAGE: bad usage, URL or configuration. */
  public static final int USAGE = 64;

  /** EX_UNAVAILABLE: no quorum of nodes, or no servers for one. */
  public static final int UNAVAILABLE = 69;

  /** EX_SOFTWARE: a mistake in this program. */
  public static final int SOFTWARE = 70;

  /** EX_TEMPFAIL: the lock was not acquired in time. */
  public static final int NOT_GOT = 75;

  /** EX_PROTOCOL: the lock was lost while the command ran. */
  public static final int LOST = 76;

  /** The command was found and cannot be executed. */
  public static final int NOT_EXECUTABLE = 126;

  /** The command was not found. */
  public static final int NOT_FOUND = 127;

  private static final int SIGNAL = 128;

  private ExitCode() {}

  public static int ofSignal(int number) {
    return SIGNAL + number;
  }
}
