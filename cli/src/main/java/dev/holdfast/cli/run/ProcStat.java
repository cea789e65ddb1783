package dev.holdfast.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Fields that Linux shows of a process in {@code /proc/PID/stat}.
 *
 * @param state R, S, D, T, Z and others
 * @param session the process that began its session
 */
record ProcStat(char state, long session, int threads) {
  // Fields, counted from the one after the name.
  private static final int STATE = 0;
  private static final int SESSION = 3;
  private static final int THREADS = 17;

  /** Returns the state of a process, or empty if there is no such process, or no Linux. */
  static Optional<ProcStat> of(long pid) {
    try {
      return Optional.of(parse(Files.readString(Path.of("/proc", Long.toString(pid), "stat"))));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  static ProcStat parse(String stat) {
    // "pid (name) state …", and the name may hold spaces and parentheses.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).strip().split(" ", -1);
    return new ProcStat(
        fields[STATE].charAt(0),
        Long.parseLong(fields[SESSION]),
        Integer.parseInt(fields[THREADS]));
  }

  /**
   * Returns whether nothing of the process runs any more, and only its parent has not asked for its
   * exit code. If the first thread has ended and others go on, the state is the same.
   */
  boolean isZombie() {
    return state == 'Z' && threads <= 1;
  }
}
