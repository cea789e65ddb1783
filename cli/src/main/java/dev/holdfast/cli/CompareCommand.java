package dev.holdfast.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast compare}: its options. */
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
      "and ends. Nothing is set up, nothing is left. The bare pattern is the old lock",
      "as many run it: its holder never looks at the time again, and just sends DEL.",
      "",
      "  holder crashes     a process that holds the lock is killed (SIGKILL)",
      "  holder is slow     it is stopped until another has got the lock, then goes on",
      "                     and releases; a third asks at once. Before it releases it",
      "                     is asked if it still holds the lock, and its own clock",
      "                     tells it ('it knows'); but in the bare pattern nobody asks",
      "  node dies          the first node is killed, and back after 2 s, empty",
      "  master fails over  the first node is killed before its replica has the lock's",
      "                     key, and the replica is promoted at once; in this and the",
      "                     one before, all nodes had granted the lock",
      "  clocks apart       another client's clock is ahead by more than the ttl",
      "  contention         8 clients want one lock, and hold it for 1 ms",
      "",
      "Two owners at once: two leases said at the same moment that they are held.",
      "Unavailable: how long nobody got a lock; where a holder is to blame, from when",
      "it asked for it. Commands: those that clients sent. What has no meaning in a",
      "scenario is shown as a dash. What takes too long is tried once more.",
      "",
      "JSON: date, versions, processors and rows (an array of objects with scenario,",
      "lock, twoOwners, holderKnows, unavailableMillis, grantsPerSecond and",
      "commandsPerGrant; what has no meaning is left out).",
      "",
      "Exit code: 0 if all was measured, 64 bad usage, 69 no Redis server runs",
      "here, or this machine is too busy to measure.",
      "",
      "Examples:",
      "  holdfast compare",
      "  holdfast compare --seconds 60 --json"
    })
@SuppressWarnings("NullAway.Init")
final class CompareCommand implements Callable<Integer> {
  private static final int MOST_SECONDS = 3_600;

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
    if (seconds < 1 || seconds > MOST_SECONDS) {
      throw new UsageException("--seconds is " + seconds + ": give 1 to " + MOST_SECONDS);
    }
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
