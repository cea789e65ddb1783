package dev.holdfast.legacy.setnx;

/** A value that is no time stamp of the format that was set. Has no stack trace of its own. */
final class WrongStamp extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what the value is instead, and what to do.
   *
   * @param message the end of a sentence that begins with the value
   */
  WrongStamp(String message) {
    super(message, null, false, false);
  }
}
