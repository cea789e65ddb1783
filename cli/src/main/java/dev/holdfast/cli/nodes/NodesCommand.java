package dev.holdfast.cli.nodes;

import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast nodes}: Redis servers on this machine to try things with. */
@Command(
    name = "nodes",
    subcommands = NodesInitCommand.class,
    description = "Redis servers on this machine, for trials: no Docker, no installation.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "They run until they are stopped, and keep nothing on disk. Other commands use",
      "them if there is neither --url nor HOLDFAST_URL. Their addresses are stored in",
      "$HOLDFAST_STATE, else $XDG_STATE_HOME/holdfast, else ~/.local/state/holdfast.",
      "",
      "Examples:",
      "  holdfast nodes start",
      "  holdfast run --name nightly -- sh -c 'echo got it; sleep 5'",
      "  holdfast nodes freeze 0 1        a minority: locks still work",
      "  holdfast nodes status",
      "  holdfast nodes thaw 0 1",
      "  holdfast nodes stop"
    })
@SuppressWarnings("NullAway.Init")
public final class NodesCommand implements Callable<Integer> {
  private static final String INDEX = "The node's number, from 0, as 'holdfast nodes status' says.";

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "A command is missing.");
  }

  @Command(
      name = "start",
      description = "Starts nodes on free ports.",
      footer = {"", "Examples:", "  holdfast nodes start", "  holdfast nodes start --count 3"})
  int start(
      @Option(
              names = "--count",
              paramLabel = "N",
              description = "How many nodes, from 1 to 31 (default: 5).")
          @Nullable Integer count) {
    Optional<TestNodes> there = LocalNodes.running();
    if (there.isPresent() && (count == null || count == there.get().size())) {
      out().println("Already there:");
      return show(there.get());
    }
    if (there.isPresent()) {
      throw new UsageException(
          there.get().size() + " nodes are running already; stop them with: holdfast nodes stop");
    }
    TestNodes nodes = LocalNodes.start(count == null ? LocalNodes.DEFAULT_COUNT : count);
    show(nodes);
    out().println("Commands without --url use them. For other programs:");
    out().println("  export HOLDFAST_URL=" + LocalNodes.url(nodes));
    out().println("Stop them with: holdfast nodes stop");
    return ExitCode.OK;
  }

  @Command(
      name = "stop",
      description = "Stops all nodes and deletes their files.",
      footer = {"", "Example:", "  holdfast nodes stop"})
  int stop() {
    Optional<TestNodes> nodes = TestNodes.attach(LocalNodes.folder());
    nodes.ifPresent(TestNodes::stop);
    out().println(nodes.isPresent() ? "Stopped." : "No nodes were started.");
    return ExitCode.OK;
  }

  @Command(
      name = "status",
      description = "Shows each node's state.",
      footer = {
        "",
        "Up means that the server runs. A server that came back without its data does not",
        "vote for a while, and its line says so: see 'holdfast nodes restart --help'. The",
        "state is the one for programs that give no maxTtl and cluster.",
        "",
        "With --url it shows the nodes behind a URL, as programs see them: up, down or",
        "quarantined, with the cause.",
        "",
        "Exit code: 0 if a quorum of the nodes is up, 69 if not, 64 if there are none.",
        "With --url: 0 if a quorum answers and may vote, 69 if not.",
        "",
        "Examples:",
        "  holdfast nodes status",
        "  holdfast nodes status --url redlock:redis://h1,redis://h2,redis://h3",
        "",
        "JSON: nodes (an array of objects with index, address, state, version and, if it",
        "does not vote although it is up, text), up, voting and quorum. With --url: nodes",
        "(address, state, since, text, votesAgain) and quorum (true or false)."
      })
  int status(
      @Option(
              names = "--url",
              paramLabel = "URL",
              description = "Show the nodes behind this URL, instead of those on this machine.")
          @Nullable String url,
      @Option(names = "--json", description = "Print JSON, one object.") boolean json) {
    if (url != null) {
      return show(NodesStatus.of(url), json);
    }
    TestNodes nodes = LocalNodes.started();
    NodeVotes votes = NodeVotes.of(nodes);
    if (!json) {
      return show(nodes, votes);
    }
    List<Map<String, Object>> each =
        nodes.all().stream().map(node -> members(node, votes.whyNot(node))).toList();
    long up = each.stream().filter(node -> "up".equals(node.get("state"))).count();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("nodes", each);
    all.put("up", up);
    all.put("voting", votes.votes(nodes));
    all.put("quorum", quorum(nodes));
    out().println(Json.of(all));
    return up >= quorum(nodes) ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  private int show(NodesStatus status, boolean json) {
    if (json) {
      out().println(status.json());
    } else {
      status.print(out());
    }
    return status.exitCode();
  }

  private static Map<String, Object> members(TestNode node, String whyNot) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("index", node.index());
    members.put("address", node.address());
    members.put("state", word(node.state()));
    members.put("version", node.version());
    if (!whyNot.isEmpty()) {
      members.put("text", whyNot);
    }
    return members;
  }

  private static int quorum(TestNodes nodes) {
    return nodes.size() / 2 + 1;
  }

  @Command(
      name = "freeze",
      description = "Stops nodes from answering (SIGSTOP); they keep their data.",
      footer = {"", "Example:", "  holdfast nodes freeze 0 1"})
  int freeze(
      @Parameters(arity = "1..*", paramLabel = "I", description = INDEX) List<Integer> nodes) {
    return each(requireRunning(nodes), TestNode::freeze);
  }

  @Command(
      name = "thaw",
      description = "Lets frozen nodes continue (SIGCONT).",
      footer = {"", "Example:", "  holdfast nodes thaw 0 1"})
  int thaw(@Parameters(arity = "1..*", paramLabel = "I", description = INDEX) List<Integer> nodes) {
    return each(requireRunning(nodes), TestNode::thaw);
  }

  @Command(
      name = "kill",
      description = "Kills nodes (SIGKILL); their data is gone.",
      footer = {"", "Example:", "  holdfast nodes kill 2"})
  int kill(@Parameters(arity = "1..*", paramLabel = "I", description = INDEX) List<Integer> nodes) {
    return each(nodes, TestNode::kill);
  }

  @Command(
      name = "restart",
      description = "Starts nodes again, on the same port and without data.",
      footer = {
        "",
        "A node that runs, or is frozen, is killed first, and a message says so. A node",
        "that comes back without data has forgotten the locks that it granted. With three",
        "nodes or more, the restart guard excludes it from votes until all those locks",
        "have expired: its vote counts again after the longest ttl (maxTtl: 60s unless",
        "the URL says otherwise) and about a second, at the next request for a lock.",
        "Until then the other nodes have to form a quorum without it.",
        "",
        "Example:",
        "  holdfast nodes restart 2"
      })
  int restart(
      @Parameters(arity = "1..*", paramLabel = "I", description = INDEX) List<Integer> nodes) {
    chosen(nodes).forEach(this::restart);
    TestNodes all = LocalNodes.started();
    show(all, NodeVotes.of(all));
    return ExitCode.OK;
  }

  /** Applies a fault to all of these nodes, or to none if one of the indexes is wrong. */
  private int each(List<Integer> indexes, Consumer<TestNode> fault) {
    chosen(indexes).forEach(fault);
    show(LocalNodes.started());
    return ExitCode.OK;
  }

  private static List<TestNode> chosen(List<Integer> indexes) {
    TestNodes nodes = LocalNodes.started();
    for (int index : indexes) {
      if (index < 0 || index >= nodes.size()) {
        throw new UsageException(
            "there is no node " + index + ": they are numbered 0 to " + (nodes.size() - 1));
      }
    }
    return indexes.stream().distinct().map(nodes::node).toList();
  }

  private static List<Integer> requireRunning(List<Integer> indexes) {
    for (TestNode node : chosen(indexes)) {
      if (node.state() == TestNode.State.DOWN) {
        throw new UsageException(
            "node "
                + node.index()
                + " is down: start it first, with: holdfast nodes restart "
                + node.index());
      }
    }
    return indexes;
  }

  private void restart(TestNode node) {
    TestNode.State before = node.state();
    node.restart();
    if (before != TestNode.State.DOWN) {
      out()
          .println(
              "Node "
                  + node.index()
                  + " was "
                  + word(before)
                  + ": killed and started again, without its data.");
    }
  }

  private static String word(TestNode.State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  private int show(TestNodes nodes) {
    return show(nodes, new NodeVotes(Map.of()));
  }

  private int show(TestNodes nodes, NodeVotes votes) {
    PrintWriter out = out();
    int up = 0;
    for (TestNode node : nodes.all()) {
      TestNode.State state = node.state();
      up += state == TestNode.State.UP ? 1 : 0;
      String whyNot = votes.whyNot(node);
      out.printf(
          "  %d  %-15s  %-6s  redis %s%s%n",
          node.index(),
          node.address(),
          word(state),
          node.version(),
          whyNot.isEmpty() ? "" : ": " + whyNot);
    }
    int quorum = quorum(nodes);
    long voting = votes.votes(nodes);
    out.printf(
        "%d of %d up%s; a quorum is %d%n",
        up, nodes.size(), voting == up ? "" : ", " + voting + " vote", quorum);
    return up >= quorum ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }
}
