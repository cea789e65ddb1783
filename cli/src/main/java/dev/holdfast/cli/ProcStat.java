package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What Linux says of a process in {@code /proc/PID/stat}.
 *
 * @param state R, S, D, T, Z and others
 * @param foregroundGroup of its terminal; -1 if it has none
 */
record ProcStat(char state, long processGroup, long foregroundGroup, int threads) {
  // Fields, counted from the one after the name.
  private static final int STATE = 0;
  private static final int PROCESS_GROUP = 2;
  private static final int FOREGROUND_GROUP = 5;
  private static final int THREADS = 17;

  /** Empty if there is no such process, or no Linux. */
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
        Long.parseLong(fields[PROCESS_GROUP]),
        Long.parseLong(fields[FOREGROUND_GROUP]),
        Integer.parseInt(fields[THREADS]));
  }

  /**
   * Whether nothing of it runs any more, and only its parent has not asked for its exit code. Where
   * the first thread has ended and others go on, the state is the same.
   */
  boolean isZombie() {
    return state == 'Z' && threads <= 1;
  }
}
