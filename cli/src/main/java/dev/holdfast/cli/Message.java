package dev.holdfast.cli;

/** Lines of our own among those of the command that is run. */
final class Message {
  private Message() {}

  /** Says who is speaking. */
  static String of(String text) {
    return "holdfast: " + text;
  }

  /** Prints one on stderr, in one piece. */
  static void print(String text) {
    System.err.print(of(text) + System.lineSeparator());
    System.err.flush();
  }
}
