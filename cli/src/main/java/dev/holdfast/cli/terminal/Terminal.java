package dev.holdfast.cli.terminal;

import dev.holdfast.cli.process.ProcessContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.Locale;
import java.util.Set;

/** The terminal, if there is one. */
public final class Terminal {
  private static final Set<String> YES = Set.of("y", "yes");

  private static final int USUAL_WIDTH = 80;

  private Terminal() {}

  /** Returns the number of columns, or the usual number if it is unknown. */
  public static int width() {
    int columns = ProcessContext.current().columns();
    return columns > 0 ? columns : USUAL_WIDTH;
  }

  /** Returns whether a user can answer a prompt. */
  public static boolean canAsk() {
    return ProcessContext.current().stdinIsTerminal();
  }

  /**
   * Asks on stderr, and waits for the answer on stdin.
   *
   * @param question without what must be typed
   */
  public static boolean isYes(String question) throws IOException {
    System.err.print(question + " [y/N] ");
    System.err.flush();
    String answer =
        new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
    return answer != null && YES.contains(answer.strip().toLowerCase(Locale.ROOT));
  }

  /** Returns whether text on the screen can be overwritten. */
  public static boolean canRedraw() {
    String type = ProcessContext.current().variable("TERM");
    return ProcessContext.current().stdoutIsTerminal() && !type.isEmpty() && !type.equals("dumb");
  }

  /** Returns whether colours are wanted, see no-color.org. */
  public static boolean wantsColour() {
    return ProcessContext.current().variable("NO_COLOR").isEmpty();
  }
}
