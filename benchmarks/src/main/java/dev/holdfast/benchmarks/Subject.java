package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * A contestant, and the servers that it shares with the others.
 *
 * @param kind its kind of lock
 * @param contestant the contestant, connected
 * @param floor another contestant, which shows how fast the servers and the machine are at a time
 * @param nodes the servers
 * @param link the network before one of them
 * @param uris the addresses of the servers for contestants
 */
record Subject(
    Kind kind,
    Contestant contestant,
    Contestant floor,
    TestNodes nodes,
    SlowProxy link,
    List<String> uris) {
  private static final int ROUND_TRIPS = 50;

  /** The commands that any client sends to run scripts and to pass messages. */
  private static final Set<String> SENT_BY_ALL =
      Set.of("eval", "evalsha", "subscribe", "unsubscribe", "psubscribe", "punsubscribe");

  /** Returns a name that only this contestant uses. */
  String name(int number) {
    return kind.id() + "-" + number;
  }

  /** Measures one command to all servers in parallel. */
  long roundTripNanos() throws Exception {
    Histogram times = new Histogram(2);
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long from = System.nanoTime();
      floor.locked("round-trip", () -> {});
      times.recordValue((System.nanoTime() - from) / 2);
    }
    return times.getValueAtPercentile(50);
  }

  /** Returns the number of commands from clients to all servers, without calls by scripts. */
  long commandsSent() {
    return nodes.all().stream()
        .filter(node -> node.state() == TestNode.State.UP)
        .mapToLong(this::commandsSent)
        .sum();
  }

  private long commandsSent(TestNode node) {
    return node.commandCounts().entrySet().stream()
        .filter(count -> isSent(count.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private boolean isSent(String command) {
    return SENT_BY_ALL.contains(command) || kind.commands().contains(command);
  }
}
