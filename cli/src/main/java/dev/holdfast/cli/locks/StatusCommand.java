package dev.holdfast.cli.locks;

import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.backend.UrlOption;
import dev.holdfast.cli.command.DurationConverter;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
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
    description = "Shows the holder of a lock.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "The answer can be out of date before it is read: no program may rely on it. If",
      "fewer nodes than a quorum hold a key of the same owner, a client is acquiring or",
      "releasing the lock, or nodes are down. This is shown as a state of its own, and",
      "the lock is not free.",
      "",
      "--watch redraws on a terminal, and elsewhere prints a line for each change. It",
      "continues through outages, until Ctrl-C. In the background of a script (&),",
      "which ignores SIGINT, it continues until SIGTERM.",
      "",
      "JSON: name; state (held, no-quorum, free, unknown); if there is a holder,",
      "owner, agreeing, nodes and remainingMillis; with --watch time, and error if",
      "it is unknown.",
      "",
      "Exit code:",
      "  0   it is held",
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
public final class StatusCommand implements Callable<Integer> {
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
    @Option(names = "--watch", required = true, description = "Repeat until interrupted.")
    @SuppressWarnings("UnusedVariable") // being given is all that it says
    private boolean watch;

    @Option(
        names = "--interval",
        paramLabel = "TIME",
        defaultValue = "1s",
        converter = DurationConverter.class,
        description = "Interval between two checks (default: ${DEFAULT-VALUE}).")
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
      Logging.reportOutages();
      spec.commandLine().getOut().println(json ? Json.of(state.members()) : state.text());
      return state.isFree() ? ExitCode.NO : ExitCode.OK;
    }
  }
}
