package dev.holdfast.redlock;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.LockConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What this client asks of nodes that vote: a node that lost its data keeps out of votes until all
 * that it may have lost has expired. Each node keeps the record of it; see {@link Vote}.
 */
final class Guard {
  /** One on each node and database; it never expires. */
  static final String KEY = "holdfast:guard";

  /** Of clients' clocks, each of which may have begun a quarantine that another ends. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  /** With fewer, a node that keeps out of votes is the end of them. */
  private static final int FEWEST_NODES = 3;

  /** The code of the error with which a node refuses clients that do not fit its record. */
  static final String FOREIGN = "GUARDED";

  private static final Pattern FOUND = Pattern.compile("(?s)" + FOREIGN + " (\\d+) (\\d+) (.*)");
  private static final Pattern DATABASE = Pattern.compile(".*/(\\d+)");

  private final RedlockOptions options;
  private final boolean on;
  private final List<String> record;
  private final int nodes;

  Guard(RedlockOptions options, List<String> addresses) {
    this.options = options;
    this.nodes = addresses.size();
    this.on = options.restartGuard().orElse(addresses.size() >= FEWEST_NODES);
    Duration quarantine = options.validity().outlived(options.maxTtl()).plus(MARGIN);
    this.record =
        List.of(
            on ? database(addresses) : "",
            Millis.of(options.maxTtl()) + " " + addresses.size() + " " + options.cluster(),
            Long.toString(NANOSECONDS.toMicros(quarantine.toNanos())));
  }

  boolean isOn() {
    return on;
  }

  /** Returns what to add where a node's record is that of other clients. */
  String given() {
    return "; this client gave maxTtl="
        + Millis.of(options.maxTtl())
        + "ms, "
        + nodes
        + " nodes and cluster='"
        + options.cluster()
        + "'; docs/errors.md says under 'its clients gave' how to change it for all";
  }

  /** The command that has nodes vote. */
  Command.Eval command(Vote vote, List<String> keys, List<String> arguments) {
    return on
        ? command(vote.guarded(), keys, arguments)
        : new Command.Eval(vote.plain(), false, keys, arguments);
  }

  /** The same with its source, and for no lock: a node that runs it knows it from then on. */
  Command.Eval teaching(Vote vote) {
    Command.Eval empty = command(vote, List.of(), List.of("", "0"));
    return new Command.Eval(empty.script(), true, empty.keys(), empty.arguments());
  }

  /** The command of a script that the guard stands before. */
  Command.Eval command(Script script, List<String> keys, List<String> arguments) {
    List<String> allKeys = new ArrayList<>(keys);
    allKeys.add(KEY);
    List<String> all = new ArrayList<>(arguments);
    all.addAll(record);
    all.add(Long.toString(options.clock().wallMicros()));
    return new Command.Eval(script, false, allKeys, all);
  }

  /** Swapping two databases swaps their guards, so a guard has to know its own. */
  private static String database(List<String> addresses) {
    List<String> databases = addresses.stream().map(Guard::databaseOf).distinct().toList();
    if (databases.size() > 1) {
      throw new LockConfigurationException(
          "the nodes use the databases "
              + String.join(" and ", databases)
              + ": give all the same, or restartGuard=off");
    }
    return databases.get(0);
  }

  private static String databaseOf(String address) {
    Matcher database = DATABASE.matcher(address);
    return database.matches() ? database.group(1) : "0";
  }

  /** What a script says, by the code {@link #FOREIGN}, of a record that is not this client's. */
  static NodeException foreign(String error) {
    Matcher found = FOUND.matcher(error);
    return NodeException.veto(
        found.matches()
            ? "its clients gave maxTtl="
                + found.group(1)
                + "ms, "
                + found.group(2)
                + " nodes and cluster='"
                + found.group(3)
                + "': give the same, or other nodes"
            : error);
  }
}
