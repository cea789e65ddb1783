package dev.holdfast.cli;

import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast status}: its options. */
@Command(
    name = "status",
    description = "Shows who holds a lock.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "The answer can be out of date before it is read: no program may build on it.",
      "Where fewer nodes than a quorum hold a key of the same owner, somebody is just",
      "taking or releasing the lock, or nodes are away; that is said, and is not free.",
      "",
      "--watch redraws on a terminal, and elsewhere prints a line for each change. It",
      "goes on through outages, until Ctrl-C; behind a script's &, which has SIGINT",
      "ignored, until SIGTERM.",
      "",
      "JSON: name; state (held, no-quorum, free, unknown); where there is a holder,",
      "owner, agreeing, nodes and remainingMillis; with --watch time, and error if",
      "it is unknown.",
      "",
      "Exit code:",
      "  0   somebody holds it",
      "  1   it is free",
      "  64  bad usage, URL or configuration",
      "  69  no quorum of nodes answered, or votes",
      "  130, 143, 129  SIGINT, SIGTERM or SIGHUP ended --watch",
      "",
      "Examples:",
      "  holdfast status nightly",
      "  holdfast status nightly --watch --interval 200ms",
      "  holdfast status nightly --json --url redlock:redis://h1,redis://h2,redis://h3"
    })
@SuppressWarnings("NullAway.Init")
final class StatusCommand implements Callable<Integer> {
  private static final Duration SHORTEST = Duration.ofMillis(50);

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "NAME", description = "The lock's name.")
  private String name;

  @Mixin private UrlOption url;

  @Option(names = "--json", description = "Print JSON, one object a line.")
  private boolean json;

  @ArgGroup(exclusive = false)
  private @Nullable Watching watching;

  static final class Watching {
    @Option(names = "--watch", required = true, description = "Go on looking.")
    @SuppressWarnings("UnusedVariable") // being given is all that it says
    private boolean watch;

    @Option(
        names = "--interval",
        paramLabel = "TIME",
        defaultValue = "1s",
        converter = DurationConverter.class,
        description = "How often to look (default: ${DEFAULT-VALUE}).")
    private Duration interval;
  }

  @Override
  public Integer call() throws Exception {
    if (watching != null && watching.interval.compareTo(SHORTEST) < 0) {
      throw new UsageException("--interval is too short: give at least 50ms");
    }
    Backend backend = url.backend();
    if (watching != null) {
      // All that could be logged of the nodes is shown.
      Logging.silence();
      return new StatusWatch(backend, name, watching.interval, json).exitCode();
    }
    Logging.show();
    try (LockManager locks = backend.open()) {
      LockState state = LockState.of(locks, name);
      Logging.tellOutages();
      spec.commandLine().getOut().println(json ? Json.of(state.members()) : state.text());
      return state.isFree() ? ExitCode.NO : ExitCode.OK;
    }
  }
}
