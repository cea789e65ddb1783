package dev.holdfast.cli.process;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The process that a command runs in, apart from its standard streams: environment, terminal,
 * signals, and the streams of the processes that it starts. Tests that run a command in their own
 * JVM put another one in place.
 */
public class ProcessContext {
  /** The time that the system may take to end a process that was killed. */
  public static final Duration KILL_LIMIT = Duration.ofSeconds(5);

  private static volatile ProcessContext current = new ProcessContext();

  /** Returns the context of the command that runs. */
  public static ProcessContext current() {
    return current;
  }

  /** Replaces the context of the commands that run from now on. */
  public static void replace(ProcessContext others) {
    current = others;
  }

  public Map<String, String> environment() {
    return System.getenv();
  }

  /** Returns the variable's value, or an empty text if it is not set. */
  public final String variable(String name) {
    return environment().getOrDefault(name, "");
  }

  // From the launcher, because java.io.Console differs between versions of Java.

  public boolean stdinIsTerminal() {
    return Boolean.getBoolean("holdfast.terminal.in");
  }

  public boolean stdoutIsTerminal() {
    return Boolean.getBoolean("holdfast.terminal.out");
  }

  /** Returns the terminal's width, or 0 if that is unknown. */
  public int columns() {
    return Integer.getInteger("holdfast.terminal.columns", 0);
  }

  /**
   * Calls the handler when the signal arrives, on a thread of the JVM, instead of ending the JVM.
   */
  public void handle(OsSignal signal, Consumer<OsSignal> handler) {
    signal.handle(handler);
  }

  /** Goes on at Ctrl-Z, because a process that stands still renews no lock. */
  public void refuseStops() {
    OsSignal.refuseStops();
  }

  /** Starts a process that has the standard streams of this one. */
  public Process start(ProcessBuilder builder) throws IOException {
    return builder.inheritIO().start();
  }
}
