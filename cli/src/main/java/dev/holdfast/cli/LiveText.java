package dev.holdfast.cli;

import java.io.PrintStream;
import java.util.List;

/** Lines on a terminal that are drawn over themselves. */
final class LiveText {
  private static final String ESCAPE = "\u001b[";
  private static final String HIDE_CURSOR = ESCAPE + "?25l";
  private static final String SHOW_CURSOR = ESCAPE + "?25h";
  private static final String CLEAR_LINE = ESCAPE + "K";
  private static final String CLEAR_BELOW = ESCAPE + "J";

  private final PrintStream out;
  private int drawn;

  LiveText(PrintStream out) {
    this.out = out;
  }

  /** Draws lines, none of them wider than the terminal, over those before. */
  void draw(List<String> lines) {
    StringBuilder screen = new StringBuilder(HIDE_CURSOR);
    if (drawn > 0) {
      screen.append(ESCAPE).append(drawn).append('A');
    }
    lines.forEach(line -> screen.append(line).append(CLEAR_LINE).append('\n'));
    out.print(screen.append(CLEAR_BELOW));
    out.flush();
    drawn = lines.size();
  }

  /** Leaves the terminal as it was. */
  void close() {
    if (drawn > 0) {
      out.println(SHOW_CURSOR);
    }
  }
}
