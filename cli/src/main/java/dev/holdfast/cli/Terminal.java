package dev.holdfast.cli;

/** What the terminal, if there is one, does for us and with us. */
final class Terminal {
  // The launcher knows; java.io.Console does not say the same in all versions of Java.
  private static final boolean STDOUT_IS_ONE = Boolean.getBoolean("holdfast.terminal.out");
  private static final boolean STDIN_IS_ONE = Boolean.getBoolean("holdfast.terminal.in");

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
   * Whether this process has the SIGINT that we have got already: that of Ctrl-C goes to all of the
   * terminal's foreground process group, and a second one would make many programs give up their
   * orderly end.
   */
  static boolean sendsInterruptsTo(long pid) {
    return ProcStat.of(ProcessHandle.current().pid())
        .map(
            own ->
                own.processGroup() == own.foregroundGroup()
                    && ProcStat.of(pid)
                        .map(other -> other.processGroup() == own.processGroup())
                        .orElse(false))
        .orElse(STDOUT_IS_ONE);
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
