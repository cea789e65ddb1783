package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.OwedReleases.Owed;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/** Releases go to every node; one that a broken connection may have lost is sent once more. */
final class Releases {
  private final RedlockOptions options;
  private final Clock clock;
  private final Scheduler scheduler;
  private final Members members;
  private final OwedReleases owed;

  /**
   * Begins the connections, too, because what a node is owed goes before all else.
   *
   * @param nodes how to reach them
   */
  Releases(RedisNodes nodes, RedlockOptions options, Scheduler scheduler) {
    this.options = options;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.owed = new OwedReleases(clock, nodes.addresses().size());
    this.members = new Members(nodes, options, clock, scheduler, this::owedTo);
  }

  Members members() {
    return members;
  }

  /**
   * A release that is yet to be started.
   *
   * @param keepMillis for how long others are kept out; 0 to delete
   * @param sent the nodes that may hold the key
   */
  Ballot ballot(
      String key,
      String token,
      long keepMillis,
      long sent,
      Predicate<Tally> enough,
      boolean callerWaits) {
    long now = clock.nanos();
    Owed release =
        new Owed(key, token, now + keepMillis * 1_000_000, now + options.maxTtl().toNanos());
    IntConsumer owe =
        node -> {
          if ((sent & 1L << node) != 0) {
            owe(node, release);
          }
        };
    return new Ballot(
        members,
        question(command(key, token, keepMillis), enough, owe),
        members.all(),
        callerWaits);
  }

  /** What a connection that broke may have kept from a node, now that it is back. */
  private List<Round> owedTo(int node) {
    return owed.take(node).stream().map(release -> again(node, release)).toList();
  }

  private Round again(int node, Owed release) {
    long keep = Math.max(0, release.keepUntil() - clock.nanos()) / 1_000_000;
    IntConsumer onceMore = failed -> owe(failed, release);
    Ballot.Question question =
        question(command(release.key(), release.token(), keep), Tally::isComplete, onceMore);
    return new Ballot(members, question, 1L << node, false)
        .round(scheduler, options.nodeTimeout().toNanos());
  }

  private void owe(int node, Owed release) {
    owed.add(node, release);
    members.sendOwedSoon(node);
  }

  private static Ballot.Question question(
      Command command, Predicate<Tally> enough, IntConsumer whenFailed) {
    return new Ballot.Question(
        command,
        Scripts::compared,
        enough,
        node -> false,
        (node, answer) -> {},
        true,
        null,
        whenFailed);
  }

  private static Command command(String key, String token, long keepMillis) {
    return new Command.Eval(
        Scripts.RELEASE, false, List.of(key), List.of(token, Long.toString(keepMillis)));
  }
}
