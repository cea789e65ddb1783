package dev.holdfast.cli.process;

/** Lines of our own among those of the command that is run. */
public final class Message {
  private Message() {}

  /** Says who is speaking. */
  public static String of(String text) {
    return "holdfast: " + text;
  }

  /** Prints one on stderr, in one piece. */
  public static void print(String text) {
    System.err.print(of(text) + System.lineSeparator());
    System.err.flush();
  }
}
