package dev.holdfast.cli;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import picocli.CommandLine;

/** The entry point. */
final class Main {
  private Main() {}

  public static void main(String[] args) {
    System.exit(execute(args));
  }

  /** Runs one command and returns its exit code. */
  static int execute(String... args) {
    return commandLine().execute(args);
  }

  static CommandLine commandLine() {
    CommandLine commandLine = new CommandLine(new HoldfastCommand());
    commandLine.setOut(new PrintWriter(System.out, true, Charset.defaultCharset()));
    commandLine.setErr(new PrintWriter(System.err, true, Charset.defaultCharset()));
    // The command that "run" runs has options, and arguments like @file, of its own.
    commandLine.setStopAtPositional(true);
    commandLine.setExpandAtFiles(false);
    commandLine.setParameterExceptionHandler(Failures::badUsage);
    commandLine.setExecutionExceptionHandler(Failures::failed);
    return commandLine;
  }
}
