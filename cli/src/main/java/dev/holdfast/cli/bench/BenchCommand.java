package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Bench;
import dev.holdfast.benchmarks.Report;
import dev.holdfast.cli.command.HoldfastCommand;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import dev.holdfast.cli.terminal.ProgressLine;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The options of the command {@code holdfast bench}. */
@Command(
    name = "bench",
    description = "Measures locks side by side: Holdfast, bare drivers, and other libraries.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "All contestants run in this one process, in turns of a fraction of a second, on",
      "Redis servers of its own on this machine, which it starts and ends. Each time is",
      "divided by the floor's time in the same round. The floor is bare Lettuce: all",
      "nodes in parallel, with a wait for every reply, and no logic. The table shows",
      "the median over the rounds and, in brackets, the least and the most. 'The floor",
      "once more' shows how much two equal contestants differ on this machine. For",
      "unwanted events the worst round is shown: the longest wait and call, the least",
      "share, lost locks, and failures.",
      "",
      "Plain is fencing=false&restartGuard=off, safe is with both. The locks of Spring",
      "and ShedLock are not in the zip: 'holdfast bench' of a source tree has them.",
      "",
      "The table is printed at the end, and bench.md, bench.csv and bench.html are",
      "written after each scenario. docs/performance.md explains the figures.",
      "",
      "Exit code: 0 measured (contestants that could not take part are listed below the",
      "table), 64 bad usage, 69 no Redis server runs here.",
      "",
      "Examples:",
      "  holdfast bench --quick",
      "  holdfast bench --scenario uncontended,distinct-5 --contestant jedis,lettuce",
      "  holdfast bench --report target/bench --rounds 15"
    })
@SuppressWarnings("NullAway.Init")
public final class BenchCommand implements Callable<Integer> {
  private static final int MAX_ROUNDS = 1_000;

  @Spec private CommandSpec spec;

  @Option(names = "--quick", description = "Fewer and shorter rounds: for a look, not to measure.")
  private boolean quick;

  @Option(
      names = "--scenario",
      paramLabel = "NAME",
      split = ",",
      description = "Only these, or those that begin so; see --list.")
  private List<String> scenarios = List.of();

  @Option(
      names = "--contestant",
      paramLabel = "NAME",
      split = ",",
      description = "Only these, or those that begin so, and the floor; see --list.")
  private List<String> contestants = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "How many rounds count (default: 7, with --quick 3); of processes at most 5, of waiters"
              + " 3, of kept-alive 1.")
  private @Nullable Integer rounds;

  @Option(names = "--list", description = "List scenarios and contestants, and measure nothing.")
  private boolean list;

  @Option(
      names = "--report",
      paramLabel = "DIR",
      defaultValue = "holdfast-bench",
      description = "Where to write the table (default: ${DEFAULT-VALUE}).")
  private Path report;

  @Option(names = "--json", description = "Print the result as JSON, and nothing else on stdout.")
  private boolean json;

  @ParentCommand private HoldfastCommand holdfast;

  @Override
  public Integer call() throws Exception {
    if (holdfast.classPath().isPresent()) {
      return holdfast.classPath().get().execute(spec);
    }
    if (rounds != null) {
      UsageException.requireRange("--rounds", rounds, MAX_ROUNDS);
    }
    Logging.silence();
    Bench bench = planned();
    PrintWriter out = spec.commandLine().getOut();
    if (list) {
      bench.scenarios().forEach(each -> out.println(line(each.id(), each.title())));
      out.println();
      bench.contestants().forEach(each -> out.println(line(each.id(), each.label())));
      return ExitCode.OK;
    }
    BenchFiles files = BenchFiles.in(report);
    Report measured;
    try (ProgressLine progress = new ProgressLine(json)) {
      progress.show(bench::progress);
      measured = bench.run(files::write);
    }
    out.println(json ? Json.of(BenchMembers.of(measured)) : BenchText.of(measured));
    if (!json) {
      out.println(files.text());
    }
    return ExitCode.OK;
  }

  private Bench planned() {
    try {
      return Bench.of(
          new LinkedHashSet<>(scenarios),
          new LinkedHashSet<>(contestants),
          Optional.ofNullable(rounds),
          quick);
    } catch (IllegalArgumentException e) {
      throw new UsageException(String.valueOf(e.getMessage()));
    }
  }

  private static String line(String id, String title) {
    return String.format(Locale.ROOT, "%-18s %s", id, title);
  }
}
