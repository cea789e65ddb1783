package dev.holdfast.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast backends}: what there is to open a URL with. */
@Command(
    name = "backends",
    description = "Shows the backends that are there, and what is wrong with them.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "For each: how the URLs begin that it serves, its class and jar, the driver's jar,",
      "and their versions. A redlock: URL that names no driver is served by lettuce.",
      "",
      "JSON: an array of objects with name, class, jar, version, driver (jar, version),",
      "serves, broken (true or false) and why; what is not known is left out.",
      "",
      "Exit code: 0 if all can be used, 1 if one is broken, 64 bad usage.",
      "",
      "Examples:",
      "  holdfast backends",
      "  holdfast backends --class-path 'mydriver.jar:lib/*'"
    })
@SuppressWarnings("NullAway.Init")
final class BackendsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() {
    Logging.silence();
    List<FoundBackend> all = FoundBackend.all();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.of(all.stream().map(FoundBackend::members).toList()));
    } else {
      all.forEach(backend -> out.println(backend.text()));
    }
    return all.stream().allMatch(backend -> backend.broken().isEmpty()) ? ExitCode.OK : ExitCode.NO;
  }
}
