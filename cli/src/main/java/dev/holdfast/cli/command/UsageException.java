package dev.holdfast.cli.command;

/** Something that the user has to change first. The message says what to do. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }

  /** Requires an option's number to be from 1 to a maximum. */
  public static void requireRange(String option, long number, long maximum) {
    if (number < 1 || number > maximum) {
      throw new UsageException(option + " is " + number + ": give 1 to " + maximum);
    }
  }
}
