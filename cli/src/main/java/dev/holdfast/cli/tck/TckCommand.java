package dev.holdfast.cli.tck;

import dev.holdfast.cli.command.HoldfastCommand;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.Message;
import dev.holdfast.cli.terminal.Terminal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code holdfast tck}: its options. */
@Command(
    name = "tck",
    description = "Tests a backend against the rules of SPEC.md.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "The URL determines the tests that are possible:",
      "  redlock:DRIVER:{nodes}   servers that are started for the run, and then",
      "                           frozen, killed and cut off: all tests",
      "  redlock:DRIVER:redis://  servers that run already and hold nothing. They are",
      "                           emptied, and their settings changed, many times; a",
      "                           question comes first, unless --yes is given",
      "  mybackend:{name}         names that exist nowhere else, for tests that run at",
      "                           the same time: several times faster; memory: is that",
      "  anything else            all managers must see the same locks",
      "The last two are tested only through their managers.",
      "Rules that cannot be tested are listed, with the reason.",
      "",
      "JSON: url, passed, complete, begun, millis, environment, declared, undeclared,",
      "levels (counts by level and result), rules (each with rule, level, result,",
      "millis and tests) and troubles. A result is passed, failed or not-shown.",
      "",
      "Exit code:",
      "  0   no rule is broken, except for those that are listed as broken by design",
      "  1   a rule is broken; a listed one is not; nothing could be shown; or the kit",
      "      could not do its work",
      "  64  bad usage, URL or configuration; or no terminal for the question",
      "  69  no quorum of nodes answered",
      "  130, 143, 129  SIGINT, SIGTERM or SIGHUP ended it after the test that ran",
      "",
      "Examples:",
      "  holdfast tck --url memory:",
      "  holdfast tck --url 'redlock:jedis:{nodes}' --report target/tck",
      "  holdfast tck --class-path my.jar --url 'redlock:mydriver:{nodes}' --nodes 3",
      "  holdfast tck --class-path my.jar --url 'mybackend:{name}' --rule REL,ACQ-1"
    })
@SuppressWarnings("NullAway.Init")
public final class TckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--url", paramLabel = "URL", description = "The backend to test; see below.")
  private @Nullable String url;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      description = "How many servers {nodes} stands for, from 1 to 31 (default: 5).")
  private @Nullable Integer nodes;

  @Option(
      names = "--in-process",
      description = "Other processes have other locks, as with memory: (none are started).")
  private boolean inProcess;

  @Option(
      names = "--no-node-options",
      description =
          "Managers know no nodeTimeout, quorumTimeout, connectTimeout and connect: rules of these"
              + " are"
              + " not shown.")
  private boolean noNodeOptions;

  @Option(
      names = "--rule",
      paramLabel = "RULE",
      split = ",",
      description = "Only these rules, as REL-2, or REL for all that begin so.")
  private List<String> rules = List.of();

  @Option(
      names = "--broken",
      paramLabel = "RULE=REASON",
      description =
          "A rule that this backend breaks by design, and that must be seen broken; once for each.")
  private Map<String, String> broken = Map.of();

  @Option(
      names = "--report",
      paramLabel = "DIR",
      description = "Write report.html and TEST-holdfast-tck.xml (JUnit XML) there.")
  private @Nullable Path report;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask before servers are used that run already.")
  private boolean yes;

  @Option(names = "--json", description = "Print the result as JSON, and nothing else on stdout.")
  private boolean json;

  @ParentCommand private HoldfastCommand holdfast;

  @Override
  public Integer call() throws Exception {
    if (holdfast.classPath().isPresent()) {
      return holdfast.classPath().get().execute(spec);
    }
    if (url == null) {
      throw new UsageException(
          "--url is missing, which names the backend to test: give for example --url memory: or"
              + " --url"
              + " 'redlock:jedis:{nodes}'");
    }
    Set<String> wanted = new LinkedHashSet<>();
    rules.forEach(rule -> wanted.addAll(TckRule.idsOf(rule)));
    broken.keySet().forEach(TckRule::requireId);
    TckTarget target = TckTarget.of(url, nodes, inProcess);
    Optional<TckReport> written = Optional.ofNullable(report).map(TckReport::in);
    if (!target.running().isEmpty() && !yes && !isWanted(target)) {
      spec.commandLine().getErr().println(Message.of("nothing was tested"));
      return ExitCode.NO;
    }
    Logging.discard();
    return new TckRun(target, wanted, broken, !noNodeOptions, written, json).exitCode();
  }

  private static boolean isWanted(TckTarget target) throws IOException {
    if (!Terminal.canAsk()) {
      throw new UsageException(
          "no answer is possible, because stdin is not a terminal: give --yes to have these"
              + " servers emptied, and their settings changed, during the run");
    }
    System.err.println(target.shown());
    return Terminal.isYes("Empty these servers and change their settings during the run?");
  }
}
