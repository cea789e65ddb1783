package dev.holdfast.redlock.internal.guard;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.Millis;
import dev.holdfast.redlock.internal.vote.GuardedScript;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The terms on which this client lets nodes vote: a node that lost its data does not vote until all
 * locks that it may have lost have expired. Each node keeps them in its guard record. See {@link
 * GuardedScript}.
 */
public final class GuardTerms {
  /** The key of the guard record. Each node and database has one, which never expires. */
  public static final String KEY = "holdfast:guard";

  /**
   * The margin for the clocks of two clients: one may have begun a quarantine that the other ends.
   */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  /**
   * Minimum number of nodes for the default: with fewer, a node that does not vote would end all
   * votes.
   */
  private static final int MIN_NODES = 3;

  private static final Pattern DATABASE = Pattern.compile(".*/(\\d+)");

  private final AlgorithmOptions options;
  private final boolean on;
  private final List<String> record;
  private final int nodes;

  public GuardTerms(AlgorithmOptions options, List<String> addresses) {
    this.options = options;
    this.nodes = addresses.size();
    this.on = options.restartGuard().orElse(addresses.size() >= MIN_NODES);
    Duration quarantine = options.validity().outlived(options.maxTtl()).plus(MARGIN);
    this.record =
        List.of(
            on ? database(addresses) : "",
            Millis.of(options.maxTtl()) + " " + addresses.size() + " " + options.cluster(),
            Long.toString(NANOSECONDS.toMicros(quarantine.toNanos())));
  }

  public boolean isOn() {
    return on;
  }

  /**
   * Returns the words about this client's terms for the error of a node with the terms of other
   * clients.
   */
  public String describe() {
    return "; this client gave maxTtl="
        + Millis.of(options.maxTtl())
        + "ms, "
        + nodes
        + " nodes and cluster='"
        + options.cluster()
        + "'; docs/errors.md says under 'its clients gave' how to change it for all";
  }

  /** Returns the command of a script by which nodes vote, with the guard if it is on. */
  public Command.Eval command(GuardedScript script, List<String> keys, List<String> arguments) {
    return on
        ? command(script.guarded(), keys, arguments)
        : new Command.Eval(script.plain(), false, keys, arguments);
  }

  /**
   * Returns the command with the source that takes no lock: a node that runs it knows the script
   * from then on.
   */
  public Command.Eval teaching(GuardedScript script) {
    Command.Eval empty = command(script, List.of(), List.of("", "0"));
    return new Command.Eval(empty.script(), true, empty.keys(), empty.arguments());
  }

  /** Returns the command of a script that begins with the guard. */
  Command.Eval command(Script script, List<String> keys, List<String> arguments) {
    List<String> allKeys = new ArrayList<>(keys);
    allKeys.add(KEY);
    List<String> all = new ArrayList<>(arguments);
    all.addAll(record);
    all.add(Long.toString(options.clock().wallMicros()));
    return new Command.Eval(script, false, allKeys, all);
  }

  /**
   * Returns the number of the database. Swapping two databases swaps their guard records, so a
   * guard record has to name its database.
   */
  private static String database(List<String> addresses) {
    List<String> databases = addresses.stream().map(GuardTerms::databaseOf).distinct().toList();
    if (databases.size() > 1) {
      throw new LockConfigurationException(
          "the nodes use the databases "
              + String.join(" and ", databases)
              + ": give the same database to all, or restartGuard=off");
    }
    return databases.get(0);
  }

  private static String databaseOf(String address) {
    Matcher database = DATABASE.matcher(address);
    return database.matches() ? database.group(1) : "0";
  }
}
