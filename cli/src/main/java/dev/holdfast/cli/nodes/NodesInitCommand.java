package dev.holdfast.cli.nodes;

import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.backend.UrlOption;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import dev.holdfast.cli.terminal.Terminal;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast nodes init}: lets new nodes vote at once. */
@Command(
    name = "init",
    description = "Lets new nodes, here or elsewhere, vote at once.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    sortOptions = false,
    footer = {
      "",
      "A node without a guard record has never voted, or has lost all its data and with",
      "it locks that may be held. So it waits, without a vote, until all of these locks",
      "have expired: for maxTtl (60s unless the URL says otherwise) and about a second.",
      "New nodes need no such wait: this command initialises them, so that they vote at",
      "once. It does so only if all of them answer and all look new. The command cannot",
      "know whether they have never voted, or ALL of them lost their data at once. If",
      "locks may be held, wait instead.",
      "",
      "Give the URL of your programs, with its maxTtl and cluster: nodes that vote",
      "refuse programs with other values. 'holdfast nodes start' initialises its nodes.",
      "",
      "JSON: marked (true or false) and nodes, an array of objects with address, state",
      "(votes, new), leftMillis (until it votes) and text.",
      "",
      "Exit code:",
      "  0   they vote now, or voted already",
      "  1   the answer was not yes: no node was initialised",
      "  64  bad usage, URL or configuration; or no terminal for the question",
      "  69  not all nodes answer, or not all look new: no node was initialised (the",
      "      message names them, and says how long to wait); or one of the nodes could",
      "      not be initialised",
      "",
      "Examples:",
      "  holdfast nodes init --url redlock:redis://h1,redis://h2,redis://h3",
      "  holdfast nodes init --yes --json"
    })
@SuppressWarnings("NullAway.Init")
final class NodesInitCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private UrlOption url;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask: the nodes have never voted.")
  private boolean yes;

  @Option(names = "--json", description = "Print the result as JSON.")
  private boolean json;

  @Override
  public Integer call() {
    // Connects when the nodes are inspected, so that the faults of each are shown.
    Backend backend = url.backend().lazy();
    Logging.silence();
    try (LockManager locks = backend.open()) {
      return init(
          locks
              .unwrap(RestartGuardAdmin.class)
              .orElseThrow(
                  () ->
                      new UsageException(
                          "there is no restart guard, so there is nothing to initialise: the guard"
                              + " is"
                              + " for redlock: URLs of three nodes or more, and of fewer with"
                              + " restartGuard=on")));
    }
  }

  private int init(RestartGuardAdmin guard) {
    Sure sure = new Sure();
    boolean done = guard.init(sure::isWanted);
    List<Node> nodes = guard.nodes();
    if (json) {
      print(Json.of(members(sure.asked && done, nodes)));
    } else {
      print(table(nodes));
      print(
          !done
              ? "No node was initialised."
              : sure.asked ? "Initialised." : "All vote: nothing to do.");
    }
    return done ? ExitCode.OK : ExitCode.NO;
  }

  /** The answer to a question that is put only where all nodes look new. */
  private final class Sure {
    private boolean asked;

    boolean isWanted(List<Node> nodes) {
      asked = true;
      if (yes) {
        return true;
      }
      if (!Terminal.canAsk()) {
        throw new UsageException(
            "no answer is possible, because stdin is not a terminal: give --yes if these nodes"
                + " have never voted; if they may have lost their data, wait "
                + seconds(nodes)
                + " s instead");
      }
      PrintWriter err = spec.commandLine().getErr();
      err.println(table(nodes));
      err.println("They have never voted, or ALL of them lost their data at once: only you know.");
      err.println("If locks may be held on them, wait " + seconds(nodes) + " s instead.");
      try {
        return Terminal.isYes(
            "Have they never voted? Then they are initialised, and vote at once.");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Returns the time until all nodes vote by themselves. */
  private static long seconds(List<Node> nodes) {
    return nodes.stream().map(Node::left).max(Duration::compareTo).orElseThrow().toSeconds() + 1;
  }

  private static String table(List<Node> nodes) {
    int width = nodes.stream().mapToInt(node -> node.address().length()).max().orElse(1);
    return String.join(
        System.lineSeparator(),
        nodes.stream()
            .map(node -> String.format("  %-" + width + "s  %s", node.address(), text(node)))
            .toList());
  }

  /** Returns a server's text without characters that a terminal would obey. */
  private static String text(Node node) {
    return LockState.printable(node.text());
  }

  private static Map<String, Object> members(boolean marked, List<Node> nodes) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("marked", marked);
    members.put("nodes", nodes.stream().map(NodesInitCommand::members).toList());
    return members;
  }

  private static Map<String, Object> members(Node node) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("address", node.address());
    members.put("state", node.state().name().toLowerCase(Locale.ROOT));
    members.put("leftMillis", node.left().toMillis());
    members.put("text", node.text());
    return members;
  }

  private void print(String text) {
    spec.commandLine().getOut().println(text);
  }
}
