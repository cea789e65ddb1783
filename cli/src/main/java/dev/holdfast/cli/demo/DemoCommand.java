package dev.holdfast.cli.demo;

import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.command.ClassPath;
import dev.holdfast.cli.command.HoldfastCommand;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast demo}: its options. */
@Command(
    name = "demo",
    description = "Shows locks at work on this machine, without preparation.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "Starts five Redis servers and worker processes that each read, change and write",
      "back numbers in shared files, under locks. With --faults the servers are frozen,",
      "killed and restarted, never more than two at once. A killed server is back at",
      "once, without its data, and is one of these two until the restart guard lets it",
      "vote again. Overlaps are two workers in one file at the same time; each",
      "costs updates.",
      "",
      "Exit code: 0 if no overlap was seen and no update lost, 1 if there was one,",
      "64 bad usage, 69 no Redis server runs here.",
      "",
      "Examples:",
      "  holdfast demo",
      "  holdfast demo --faults --seconds 60",
      "  holdfast demo --driver jedis",
      "  holdfast demo --without-lock     the control: updates are lost"
    })
@SuppressWarnings("NullAway.Init")
public final class DemoCommand implements Callable<Integer> {
  private static final int MAX_SECONDS = 86_400;
  private static final int MAX_WORKERS = 64;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "15",
      description = "How long (default: ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "4",
      description = "How many worker processes (default: ${DEFAULT-VALUE}).")
  private int workers;

  @ArgGroup private Kind kind = new Kind();

  @Option(names = "--json", description = "Print the result as JSON, and nothing else on stdout.")
  private boolean json;

  @Option(
      names = "--driver",
      paramLabel = "NAME",
      defaultValue = Backend.DRIVER,
      description = "The driver of the locks, see 'holdfast backends' (default: lettuce).")
  private String driver;

  @ParentCommand private HoldfastCommand holdfast;

  /** Faults of nodes without users would show nothing. */
  static final class Kind {
    @Option(
        names = "--faults",
        description = "Freeze, kill and restart servers, a minority at once.")
    private boolean faults;

    @Option(names = "--without-lock", description = "The same workers without the lock.")
    private boolean withoutLock;
  }

  @Override
  public Integer call() throws Exception {
    UsageException.requireRange("--seconds", seconds, MAX_SECONDS);
    UsageException.requireRange("--workers", workers, MAX_WORKERS);
    requireDriver();
    Logging.silence();
    DemoPlan plan =
        new DemoPlan(
            seconds,
            workers,
            kind.faults,
            !kind.withoutLock,
            json,
            driver,
            holdfast.classPath().map(ClassPath::text));
    return new Demo(plan).exitCode();
  }

  private void requireDriver() {
    List<String> drivers = Backend.redlockDrivers();
    if (!drivers.contains(driver)) {
      throw new UsageException(
          "there is no driver '" + driver + "'; found: " + String.join(", ", drivers));
    }
  }
}
