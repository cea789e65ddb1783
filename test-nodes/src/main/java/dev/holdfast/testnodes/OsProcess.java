package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A process as the operating system shows it, which need not be a child of this JVM. */
record OsProcess(long pid, char state, String commandLine) {
  private static final Duration TOOL_LIMIT = Duration.ofSeconds(5);

  /** Fields of /proc/PID/stat, counted from the one after the name. */
  private static final int STATE = 0;

  private static final int THREADS = 17;
  private static final boolean HAS_PROC = Files.isReadable(Path.of("/proc/self/stat"));

  /**
   * Looks a process up. Returns empty if there is none, or if only its entry is left because it has
   * ended.
   */
  static Optional<OsProcess> find(long pid) {
    return HAS_PROC ? fromProc(pid) : fromPs(pid).filter(p -> p.state != 'Z');
  }

  boolean isStopped() {
    return state == 'T';
  }

  /** Returns whether it has lost its memory already, and will release its ports soon. */
  boolean isEnding() {
    return commandLine.isEmpty();
  }

  /** Sends SIGKILL, which also ends a stopped process, and returns at once. */
  void kill() {
    // ProcessHandle compares start times, so that a pid that was reused just now is not hit.
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
  }

  /**
   * Sends a signal that the JVM has no call for.
   *
   * @param signal without SIG: STOP, CONT
   */
  void signal(String signal) {
    SignalShell.send(signal, pid);
  }

  static Optional<OsProcess> fromProc(long pid) {
    Path proc = Path.of("/proc", Long.toString(pid));
    try {
      String stat = Files.readString(proc.resolve("stat"), UTF_8);
      // "pid (name) state …", and the name may hold spaces and parentheses.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      char state = fields[STATE].charAt(0);
      // While other threads of it still hold its ports, it is shown as a zombie already.
      boolean ended = (state == 'Z' && fields[THREADS].equals("1")) || state == 'X';
      String commandLine = Files.readString(proc.resolve("cmdline"), UTF_8).replace('\0', ' ');
      return ended ? Optional.empty() : Optional.of(new OsProcess(pid, state, commandLine.strip()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  static Optional<OsProcess> fromPs(long pid) {
    String line =
        run(List.of("ps", "-o", "state=", "-o", "command=", "-p", Long.toString(pid))).strip();
    return line.isEmpty()
        ? Optional.empty()
        : Optional.of(new OsProcess(pid, line.charAt(0), line.replaceFirst("^\\S+\\s*", "")));
  }

  private static String run(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      if (!Waiting.until(TOOL_LIMIT, () -> !process.isAlive())) {
        process.destroyForcibly();
        throw new NodeException(command + " did not end within " + TOOL_LIMIT.toSeconds() + " s");
      }
      return new String(process.getInputStream().readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new NodeException("Cannot run " + command + ": " + e.getMessage(), e);
    }
  }
}
