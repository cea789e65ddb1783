package dev.holdfast.cli;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The entry point. */
final class Main {
  private static final Set<String> VERSION = Set.of("-V", "--version");

  private Main() {}

  public static void main(String[] args) {
    System.exit(execute(args));
  }

  /** Runs one command and returns its exit code. */
  static int execute(String... args) {
    if (args.length == 1 && VERSION.contains(args[0])) {
      // Without the parser, which takes three times as long to load as this program.
      System.out.println(Version.text());
      return ExitCode.OK;
    }
    return commandLine(args).execute(args);
  }

  private static CommandLine commandLine(String... args) {
    CommandLine commandLine = new CommandLine(new HoldfastCommand());
    addSubcommands(commandLine, args.length == 0 ? "" : args[0]);
    commandLine.setOut(new PrintWriter(System.out, true, Charset.defaultCharset()));
    commandLine.setErr(new PrintWriter(System.err, true, Charset.defaultCharset()));
    // The command that "run" runs has options, and arguments like @file, of its own.
    commandLine.setStopAtPositional(true);
    commandLine.setExpandAtFiles(false);
    commandLine.setParameterExceptionHandler(Failures::badUsage);
    commandLine.setExecutionExceptionHandler(Failures::failed);
    return commandLine;
  }

  /** Only the one that is asked for, because reading them all takes a tenth of a second. */
  private static void addSubcommands(CommandLine commandLine, String first) {
    Map<String, Supplier<Object>> all = new LinkedHashMap<>();
    all.put("run", RunCommand::new);
    all.put("nodes", NodesCommand::new);
    all.put("demo", DemoCommand::new);
    all.put("demo-worker", DemoWorkerCommand::new);
    all.put("warm-up", WarmUpCommand::new);
    if (all.containsKey(first)) {
      all.keySet().retainAll(Set.of(first));
    }
    all.forEach((name, command) -> commandLine.addSubcommand(name, command.get()));
  }
}
