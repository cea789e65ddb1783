package dev.holdfast.cli.run;

import dev.holdfast.LockRequest;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.UrlOption;
import dev.holdfast.cli.command.DurationConverter;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast run}: its options. */
@Command(
    name = "run",
    description = "Runs a command while holding a lock.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    customSynopsis = "holdfast run --name NAME [OPTIONS] -- COMMAND [ARG...]",
    sortOptions = false,
    footer = {
      "",
      "The lock is renewed while the command runs, and released after it has ended. A",
      "lock that cannot be renewed (setnx:, migrate:from) is held for the ttl. The",
      "command has the ttl less the grace, and is then ended as if the lock were lost.",
      "",
      "stdin, stdout and stderr are the command's. SIGINT, SIGTERM and SIGHUP are",
      "passed on to the command and to all processes that it has started. Processes",
      "that outlive the command then have the grace to end too, before the lock is",
      "released, and then get SIGKILL. Signals that the caller ignores are ignored",
      "here, too: SIGHUP under nohup, and SIGINT in the background of a script (&).",
      "SIGTERM still works then. The command finds HOLDFAST_NAME, HOLDFAST_TOKEN and,",
      "if there is one, HOLDFAST_FENCING_TOKEN in its environment.",
      "",
      "The command ends before the lock does, also if holdfast is killed or stands",
      "still, or no node answers. The command and all processes that it has started get",
      "SIGTERM, and SIGKILL after the grace, or after a third of the ttl if that is",
      "shorter. For this the command runs in a session of its own, below a guardian",
      "process, which needs bash 4, and setsid or perl. A process that calls setsid",
      "itself leaves the session and is not ended.",
      "",
      "The command can read from a terminal and gets Ctrl-C once, but cannot open",
      "/dev/tty: sudo and ssh ask for no password. Ctrl-Z stops nothing.",
      "",
      "Durations have a unit: 50ms, 30s, 5m, 24h.",
      "",
      "Exit code: the command's own (128+N if signal N ended it; 127 not found, 126",
      "not executable), or",
      "  64  bad usage, URL or configuration",
      "  69  no quorum of nodes answered",
      "  75  the lock was not acquired in time",
      "  76  while the command ran, the lock was lost or not renewed in time, the",
      "      longest hold was over, or the guardian was killed: the command and all",
      "      processes that it has started get SIGTERM, and after the grace SIGKILL; or",
      "      the lock was lost before the command was started",
      "  130, 143, 129  SIGINT, SIGTERM or SIGHUP came while waiting for the lock",
      "",
      "Examples:",
      "  holdfast run --name nightly --at-least 10s -- ./started-on-every-host.sh",
      "  holdfast run --name deploy --wait 30s -- ./deploy.sh --all",
      "  holdfast run --name x --wait forever --ttl 10s --max-hold 1h -- make deploy",
      "  export HOLDFAST_URL=redlock:redis://h1,redis://h2,redis://h3"
    })
@SuppressWarnings("NullAway.Init")
public final class RunCommand implements Callable<Integer> {
  static final String DEFAULT_TTL = "30s";
  private static final Duration LONGEST_AT_LEAST = Duration.ofHours(24);

  @Option(
      names = "--name",
      required = true,
      paramLabel = "NAME",
      description = "The lock's name, 1 byte to 1 KiB.")
  private String name;

  @Mixin private UrlOption url;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      defaultValue = DEFAULT_TTL,
      converter = DurationConverter.class,
      description =
          "How long the lock outlives us if we die (default: ${DEFAULT-VALUE}); at most the URL's"
              + " maxTtl, which is 60s unless the URL ends with, say, ?maxTtl=5m.")
  private Duration ttl;

  @Option(
      names = "--wait",
      paramLabel = "TIME|forever",
      defaultValue = "0s",
      converter = DurationConverter.OrForever.class,
      description =
          "How long to wait for the lock, and for nodes (default: ${DEFAULT-VALUE}, one attempt).")
  private Duration wait;

  @Option(
      names = "--at-least",
      paramLabel = "TIME",
      defaultValue = "0s",
      converter = DurationConverter.class,
      description =
          "Hold the lock for at least this long, even if the command ends sooner; up to 24h"
              + " (default: ${DEFAULT-VALUE}).")
  private Duration atLeast;

  @Option(
      names = "--max-hold",
      paramLabel = "TIME",
      defaultValue = "24h",
      converter = DurationConverter.class,
      description =
          "How long the command may run; then it is ended as if the lock were lost. At least the"
              + " ttl (default: ${DEFAULT-VALUE}).")
  private Duration maxHold;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      defaultValue = "5s",
      converter = DurationConverter.class,
      description =
          "From SIGTERM to SIGKILL, for the command when it is ended and for processes that it has"
              + " started (default: ${DEFAULT-VALUE}).")
  private Duration grace;

  @Parameters(
      arity = "1..*",
      paramLabel = "COMMAND [ARG...]",
      hideParamSyntax = true,
      description = "The command to run; its arguments are passed unchanged.")
  private List<String> command;

  @Override
  public Integer call() throws Exception {
    require(ttl.compareTo(Duration.ZERO) > 0, "--ttl is zero: give more, such as 30s");
    require(atLeast.compareTo(LONGEST_AT_LEAST) <= 0, "--at-least is above 24h: give at most 24h");
    require(maxHold.compareTo(ttl) >= 0, "--max-hold is below --ttl: give at least the ttl");
    LockRequest request = LockRequest.of(name, ttl).waitAtMost(wait).holdAtLeast(atLeast);
    Backend backend = url.backend();
    Logging.show();
    return new Run(backend, request, maxHold, grace, command).exitCode();
  }

  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new UsageException(otherwise);
    }
  }
}
