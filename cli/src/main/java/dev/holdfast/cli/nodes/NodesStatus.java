package dev.holdfast.cli.nodes;

import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.command.Logging;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.report.Json;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The nodes behind a URL, as a client sees them after one question to all of them.
 *
 * @param nodes each node
 * @param hasQuorum whether a quorum answered and may vote
 */
record NodesStatus(List<LockNode> nodes, boolean hasQuorum) {
  /** Longer than the timeouts of any URL that an operator would wait for. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** Asks the nodes behind a URL. */
  static NodesStatus of(String url) {
    Backend backend = Backend.of(url).lazy();
    Logging.silence();
    try (LockManager locks = backend.open()) {
      boolean hasQuorum = locks.ping(TIMEOUT);
      return new NodesStatus(locks.nodes(), hasQuorum);
    }
  }

  int exitCode() {
    return hasQuorum ? ExitCode.OK : ExitCode.UNAVAILABLE;
  }

  void print(PrintWriter out) {
    int width = nodes.stream().mapToInt(node -> node.address().length()).max().orElse(1);
    for (LockNode node : nodes) {
      String line =
          String.format(
              "  %-" + width + "s  %-11s  %s",
              node.address(),
              word(node.state()),
              LockState.printable(node.cause()) + votesAgain(node, Instant.now()));
      out.println(line.stripTrailing());
    }
    out.println(counts() + (hasQuorum ? "; a quorum may vote" : "; no quorum may vote"));
  }

  /** Returns for example {@code ; votes again in 57 s}, or nothing for a node that votes. */
  static String votesAgain(LockNode node, Instant now) {
    return node.votesAgain()
        .map(then -> Duration.between(now, then))
        .map(
            left ->
                left.isNegative() || left.isZero()
                    ? "; votes again when a lock is asked for"
                    : "; votes again in " + (left.toSeconds() + 1) + " s")
        .orElse("");
  }

  /** Returns for example {@code 2 up, 1 down}. */
  private String counts() {
    Map<State, Long> counts =
        nodes.stream().collect(Collectors.groupingBy(LockNode::state, Collectors.counting()));
    return counts.entrySet().stream()
        .sorted(Comparator.comparing(Map.Entry::getKey))
        .map(count -> count.getValue() + " " + word(count.getKey()))
        .collect(Collectors.joining(", "));
  }

  String json() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("nodes", nodes.stream().map(NodesStatus::members).toList());
    all.put("quorum", hasQuorum);
    return Json.of(all);
  }

  private static Map<String, Object> members(LockNode node) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("address", node.address());
    members.put("state", word(node.state()));
    members.put("since", node.since().toString());
    if (!node.cause().isEmpty()) {
      members.put("text", LockState.printable(node.cause()));
    }
    node.votesAgain().ifPresent(time -> members.put("votesAgain", time.toString()));
    return members;
  }

  private static String word(State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
