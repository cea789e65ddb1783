package dev.holdfast.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.Locale;
import java.util.Set;

/** What the terminal, if there is one, does for us and with us. */
final class Terminal {
  // The launcher knows; java.io.Console does not say the same in all versions of Java.
  private static final boolean STDOUT_IS_ONE = Boolean.getBoolean("holdfast.terminal.out");
  private static final boolean STDIN_IS_ONE = Boolean.getBoolean("holdfast.terminal.in");

  private static final Set<String> YES = Set.of("y", "yes");

  private static final int USUAL_WIDTH = 80;

  private Terminal() {}

  /** How many columns it has, or is likely to have. */
  static int width() {
    int columns = Integer.getInteger("holdfast.terminal.columns", 0);
    return columns > 0 ? columns : USUAL_WIDTH;
  }

  /** Whether there is somebody to answer. */
  static boolean canAsk() {
    return STDIN_IS_ONE;
  }

  /**
   * Asks on stderr, and waits for the answer on stdin.
   *
   * @param question without what is to be typed
   */
  static boolean isYes(String question) throws IOException {
    System.err.print(question + " [y/N] ");
    System.err.flush();
    String answer =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
    return answer != null && YES.contains(answer.strip().toLowerCase(Locale.ROOT));
  }

  /** Whether what is on the screen can be drawn over. */
  static boolean canRedraw() {
    String type = System.getenv("TERM");
    return STDOUT_IS_ONE && type != null && !type.isEmpty() && !type.equals("dumb");
  }

  /** Whether colours are welcome: see no-color.org. */
  static boolean wantsColour() {
    String no = System.getenv("NO_COLOR");
    return no == null || no.isEmpty();
  }
}
