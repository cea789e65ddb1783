package dev.holdfast.cli;

import dev.holdfast.cli.backend.BackendsCommand;
import dev.holdfast.cli.bench.BenchCommand;
import dev.holdfast.cli.command.Failures;
import dev.holdfast.cli.command.HoldfastCommand;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.command.Version;
import dev.holdfast.cli.command.WholeNumber;
import dev.holdfast.cli.compare.CompareCommand;
import dev.holdfast.cli.compare.CompareHolderCommand;
import dev.holdfast.cli.demo.DemoCommand;
import dev.holdfast.cli.demo.DemoWorkerCommand;
import dev.holdfast.cli.locks.ReleaseCommand;
import dev.holdfast.cli.locks.StatusCommand;
import dev.holdfast.cli.migrate.MigrateCommand;
import dev.holdfast.cli.nodes.NodesCommand;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.run.RunCommand;
import dev.holdfast.cli.tck.TckCommand;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The entry point of the program {@code holdfast}. */
final class Main {
  private static final String RUN = "run";

  /** The JVM's replacement for bytes that are no character. */
  private static final char UNREADABLE = '\uFFFD';

  private static final Set<String> VERSION = Set.of("-V", "--version");

  private Main() {}

  public static void main(String[] args) {
    // The output is English, and scripts can read it.
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
    System.exit(execute(args));
  }

  /** Runs one command and returns its exit code. */
  static int execute(String... args) {
    if (args.length == 1 && VERSION.contains(args[0])) {
      // Without the parser, which takes three times as long to load as this program.
      System.out.println(Version.text());
      return ExitCode.OK;
    }
    String[] meant = args.length > 0 && args[0].equals("help") ? asOption(args) : args;
    try {
      requireReadable(args);
      return commandLine(meant).execute(meant);
    } catch (UsageException | Error e) {
      // After an error the JVM would end with 1, which is an answer of several commands.
      return Failures.failed(e, new PrintWriter(System.err, true, Charset.defaultCharset()));
    }
  }

  /** Refuses text that is not UTF-8. Two names that cannot be read would be the same lock. */
  private static void requireReadable(String... args) {
    for (String arg : args) {
      if (arg.indexOf(UNREADABLE) >= 0) {
        throw new UsageException("'" + arg + "' is not UTF-8: write it so");
      }
    }
  }

  /**
   * Returns {@code help nodes start} as {@code nodes start --help}, and an unknown command as it
   * is.
   */
  private static String[] asOption(String... args) {
    String[] command = Arrays.copyOfRange(args, 1, args.length);
    if (command.length > 0 && !commandLine(command).getSubcommands().containsKey(command[0])) {
      return command;
    }
    String[] meant = Arrays.copyOf(command, args.length);
    meant[command.length] = "--help";
    return meant;
  }

  private static CommandLine commandLine(String... args) {
    HoldfastCommand holdfast = new HoldfastCommand();
    CommandLine commandLine = new CommandLine(holdfast);
    addSubcommands(commandLine, args.length == 0 ? "" : args[0]);
    commandLine.setOut(new PrintWriter(System.out, true, Charset.defaultCharset()));
    commandLine.setErr(new PrintWriter(System.err, true, Charset.defaultCharset()));
    // The command that "run" runs has options, and arguments like @file, of its own.
    Optional.ofNullable(commandLine.getSubcommands().get(RUN))
        .ifPresent(run -> run.setStopAtPositional(true));
    commandLine.setExpandAtFiles(false);
    commandLine.registerConverter(int.class, new WholeNumber());
    commandLine.registerConverter(Integer.class, new WholeNumber());
    commandLine.setExecutionStrategy(
        parsed -> {
          holdfast.classPath().ifPresent(classPath -> classPath.install(commandLine.getErr()));
          return new CommandLine.RunLast().execute(parsed);
        });
    commandLine.setParameterExceptionHandler(Failures::badUsage);
    commandLine.setExecutionExceptionHandler(Failures::failed);
    return commandLine;
  }

  /** Adds only the command that is asked for, because reading all takes a tenth of a second. */
  private static void addSubcommands(CommandLine commandLine, String first) {
    Map<String, Supplier<Object>> all = new LinkedHashMap<>();
    all.put(RUN, RunCommand::new);
    all.put("status", StatusCommand::new);
    all.put("release", ReleaseCommand::new);
    all.put("nodes", NodesCommand::new);
    all.put("backends", BackendsCommand::new);
    all.put("demo", DemoCommand::new);
    all.put("compare", CompareCommand::new);
    all.put("bench", BenchCommand::new);
    all.put("migrate", MigrateCommand::new);
    all.put("tck", TckCommand::new);
    all.put("demo-worker", DemoWorkerCommand::new);
    all.put("compare-holder", CompareHolderCommand::new);
    all.put("warm-up", WarmUpCommand::new);
    if (all.containsKey(first)) {
      all.keySet().retainAll(Set.of(first));
    }
    all.forEach((name, command) -> commandLine.addSubcommand(name, command.get()));
  }
}
