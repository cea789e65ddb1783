package dev.holdfast.cli.terminal;

import java.io.PrintStream;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Lines on a terminal that are drawn over themselves. */
public final class LiveText {
  private static final String ESCAPE = "\u001b[";
  private static final String HIDE_CURSOR = ESCAPE + "?25l";
  private static final String SHOW_CURSOR = ESCAPE + "?25h";
  private static final String CLEAR_LINE = ESCAPE + "K";
  private static final String CLEAR_BELOW = ESCAPE + "J";

  private static final String CUT = "...";

  /** A character, or what colours those after it. */
  private static final Pattern PART = Pattern.compile("\u001b\\[[0-9;]*m|.", Pattern.DOTALL);

  private final PrintStream out;
  private final int width;
  private int drawn;

  /**
   * @param width of the terminal, in columns
   */
  public LiveText(PrintStream out, int width) {
    this.out = out;
    this.width = width;
  }

  /** Draws lines over those before, and cuts what would go over the terminal's edge. */
  public void draw(List<String> lines) {
    StringBuilder screen = new StringBuilder(HIDE_CURSOR);
    if (drawn > 0) {
      screen.append(ESCAPE).append(drawn).append('A');
    }
    lines.forEach(line -> screen.append(fitting(line)).append(CLEAR_LINE).append('\n'));
    out.print(screen.append(CLEAR_BELOW));
    out.flush();
    drawn = lines.size();
  }

  /** Returns a line that fits. One column stays free for the cursor. */
  private String fitting(String line) {
    List<String> parts = PART.matcher(line).results().map(MatchResult::group).toList();
    long columns = parts.stream().filter(part -> !part.startsWith(ESCAPE)).count();
    if (columns < width) {
      return line;
    }
    int room = Math.max(0, width - 1 - CUT.length());
    StringBuilder fitting = new StringBuilder();
    for (String part : parts) {
      if (part.startsWith(ESCAPE)) {
        fitting.append(part);
      } else if (room > 0) {
        fitting.append(part);
        room--;
      }
    }
    return fitting.append(CUT).toString();
  }

  /** Leaves the terminal as it was. */
  public void close() {
    if (drawn > 0) {
      out.println(SHOW_CURSOR);
    }
  }
}
