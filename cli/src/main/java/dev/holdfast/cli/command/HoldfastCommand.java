package dev.holdfast.cli.command;

import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command without a subcommand, which only has help to give. */
@Command(
    name = "holdfast",
    versionProvider = Version.class,
    description = "Distributed locks over independent Redis servers (Redlock).",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  holdfast demo                    watch locks at work, without preparation",
      "  holdfast nodes start             five Redis servers for trials",
      "  holdfast run --name nightly --at-least 10s -- ./report.sh",
      "  holdfast status nightly          the holder, and the remaining time",
      "",
      "Exit codes of its own: 1 the answer is no (free, not found, broken); 64 bad",
      "usage, URL or configuration; 69 no quorum of nodes; 70 a mistake in this",
      "program; 75 the lock was not acquired in time; 76 the lock was lost while the",
      "command ran; 128+N ended by signal N.",
      "Every command has --help; 'holdfast help COMMAND' is the same."
    })
@SuppressWarnings("NullAway.Init")
public final class HoldfastCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Show the version.")
  @SuppressWarnings("UnusedVariable") // read by picocli
  private boolean version;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // read by picocli
  private boolean help;

  @Option(
      names = ClassPath.OPTION,
      paramLabel = "PATH",
      scope = ScopeType.INHERIT,
      converter = ClassPath.Converter.class,
      description =
          "Where backends are that do not come with holdfast: jars, folders, and 'folder/*' for"
              + " all jars in it, separated as in Java's own class path.")
  private @Nullable ClassPath classPath;

  /** Returns the class path of further backends. */
  public Optional<ClassPath> classPath() {
    return Optional.ofNullable(classPath);
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "A command is missing.");
  }
}
