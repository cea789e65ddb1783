package dev.holdfast.cli.migrate;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code holdfast migrate}: away from the old lock with time stamps. */
@Command(
    name = "migrate",
    description = "Helps to leave the old SETNX/GETSET lock with time stamps.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = MigrateCheckCommand.class,
    footer = {
      "",
      "How a fleet is moved, phase by phase, is in docs/migration.md.",
      "",
      "Example:",
      "  holdfast migrate check --url redis://host:6379"
    })
@SuppressWarnings("NullAway.Init")
public final class MigrateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "A command is missing.");
  }
}
