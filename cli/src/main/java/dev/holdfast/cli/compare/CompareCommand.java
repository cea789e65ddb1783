package dev.holdfast.cli.compare;

import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import dev.holdfast.cli.terminal.ProgressLine;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of the command {@code holdfast compare}. */
@Command(
    name = "compare",
    description = "Puts kinds of locks through the same accidents, and measures.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "The old lock with time stamps (SETNX/GETSET, which deletes only while its stamp",
      "has not passed), SET NX PX with compare-and-delete on one node, and Redlock over",
      "3 and 5 nodes, each with Redis servers of its own on this machine that it starts",
      "and ends. You need no preparation, and nothing is left behind. The bare pattern",
      "is the old lock as it is often used: its holder never checks the time again, and",
      "just sends DEL.",
      "",
      "  holder crashes     a process that holds the lock is killed (SIGKILL)",
      "  holder is slow     the process is stopped until another has the lock, then",
      "                     continues and releases; a third process tries at once.",
      "                     Before the release the process checks whether it still",
      "                     holds the lock, by its own clock ('it knows'); the bare",
      "                     pattern has no such check",
      "  node dies          the first node is killed, and comes back after 2 s, empty",
      "  master fails over  the first node is killed before its replica has the lock's",
      "                     key, and the replica is promoted at once; in this and the",
      "                     one before, all nodes had granted the lock",
      "  clocks apart       another client's clock is ahead by more than the ttl",
      "  contention         8 clients want one lock, and hold it for 1 ms",
      "",
      "Two owners at once: two leases reported at the same time that they are held.",
      "Unavailable: how long no client got a lock; if a holder is the cause, counted",
      "from its request for the lock. Commands: those that clients sent. A dash means",
      "that the figure has no meaning in a scenario. A scenario that takes too long is",
      "tried once more.",
      "",
      "JSON: date, versions, processors and rows (an array of objects with scenario,",
      "lock, twoOwners, holderKnows, unavailableMillis, grantsPerSecond and",
      "commandsPerGrant; figures without a meaning are omitted).",
      "",
      "Exit code: 0 if all was measured, 64 bad usage, 69 no Redis server runs",
      "here, or this machine is too busy to measure.",
      "",
      "Examples:",
      "  holdfast compare",
      "  holdfast compare --seconds 60 --json"
    })
@SuppressWarnings("NullAway.Init")
public final class CompareCommand implements Callable<Integer> {
  private static final int MAX_SECONDS = 3_600;

  @Spec private CommandSpec spec;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "10",
      description = "How long contention is measured, for each (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(names = "--json", description = "Print the result as JSON, and nothing else on stdout.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    UsageException.requireRange("--seconds", seconds, MAX_SECONDS);
    Logging.silence();
    Comparison comparison = new Comparison(seconds);
    CompareResult result;
    try (ProgressLine progress = new ProgressLine(json)) {
      progress.show(comparison::progress);
      result = comparison.run();
    }
    spec.commandLine().getOut().println(json ? Json.of(result.members()) : result.text());
    return ExitCode.OK;
  }
}
