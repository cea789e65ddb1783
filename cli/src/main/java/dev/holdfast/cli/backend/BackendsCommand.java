package dev.holdfast.cli.backend;

import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast backends}: shows the backends that can open URLs. */
@Command(
    name = "backends",
    description = "Shows the available backends, and their faults.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "Each backend is shown with the beginning of its URLs, its class and jar, the",
      "driver's jar, and their versions. A redlock: URL that names no driver is served",
      "by lettuce.",
      "",
      "JSON: an array of objects with name, class, jar, version, driver (jar, version),",
      "serves, broken (true or false) and why. Unknown members are omitted.",
      "",
      "Exit code: 0 if all can be used, 1 if one is broken, 64 bad usage.",
      "",
      "Examples:",
      "  holdfast backends",
      "  holdfast backends --class-path 'mydriver.jar:lib/*'"
    })
@SuppressWarnings("NullAway.Init")
public final class BackendsCommand implements Callable<Integer> {
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
