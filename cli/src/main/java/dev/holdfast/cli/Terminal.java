package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the terminal, if there is one, does for us and with us. */
final class Terminal {
  /** Fields of /proc/PID/stat, counted from the one after the name. */
  private static final int PROCESS_GROUP = 2;

  private static final int FOREGROUND_GROUP = 5;

  // The launcher knows; java.io.Console does not say the same in all versions of Java.
  private static final boolean STDOUT_IS_ONE = Boolean.getBoolean("holdfast.terminal.out");
  private static final boolean STDIN_IS_ONE = Boolean.getBoolean("holdfast.terminal.in");

  private Terminal() {}

  /** Whether there is somebody to answer. */
  static boolean canAsk() {
    return STDIN_IS_ONE;
  }

  /**
   * Whether we are in the terminal's foreground process group: the SIGINT of Ctrl-C goes to all of
   * it, so that our children have it already, and a second one would make many programs give up
   * their orderly end.
   */
  static boolean sendsInterruptsToOurGroup() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      // "pid (name) state …", and the name may hold spaces and parentheses.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return fields[PROCESS_GROUP].equals(fields[FOREGROUND_GROUP]);
    } catch (IOException e) {
      return STDOUT_IS_ONE;
    }
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
