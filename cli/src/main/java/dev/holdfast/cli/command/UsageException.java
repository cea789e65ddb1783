package dev.holdfast.cli.command;

/** Something that the user has to change first. The message says what to do. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}
