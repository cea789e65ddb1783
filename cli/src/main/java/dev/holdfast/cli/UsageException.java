package dev.holdfast.cli;

/** Something that the user has to change first. The message says what to do. */
final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
