package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.OwedReleases.Owed;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

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

  /** The release of a lock that was held, which those who wait are told. */
  Ballot ofLock(RedlockGrant grant, long keepMillis, Notices.News news, boolean callerWaits) {
    return ballot(
        grant.key(),
        grant.token(),
        keepMillis,
        grant.sent(),
        Tally::isReleaseDecided,
        news.message(),
        (node, reply) -> {
          news.answered(node, reply);
          return Scripts.compared(node, reply);
        },
        callerWaits);
  }

  /** What an attempt that came to nothing left; whoever waits has nothing to hope from it. */
  Ballot ofAttempt(
      String key, String token, long sent, Predicate<Tally> enough, boolean callerWaits) {
    return ballot(key, token, 0, sent, enough, List.of(), Scripts::compared, callerWaits);
  }

  private Ballot ballot(
      String key,
      String token,
      long keepMillis,
      long sent,
      Predicate<Tally> enough,
      List<String> message,
      BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
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
        question(command(key, token, keepMillis, message), reader, enough, owe),
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
        question(
            command(release.key(), release.token(), keep, List.of()),
            Scripts::compared,
            Tally::isComplete,
            onceMore);
    return new Ballot(members, question, 1L << node, false)
        .round(scheduler, options.quorumTimeout().toNanos());
  }

  private void owe(int node, Owed release) {
    owed.add(node, release);
    members.sendOwedSoon(node);
  }

  private static Ballot.Question question(
      Command command,
      BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
      Predicate<Tally> enough,
      IntConsumer whenFailed) {
    return new Ballot.Question(
        command, reader, enough, node -> false, (node, answer) -> {}, true, null, whenFailed);
  }

  private static Command command(String key, String token, long keepMillis, List<String> message) {
    List<String> arguments = new ArrayList<>(2 + message.size());
    arguments.add(token);
    arguments.add(Long.toString(keepMillis));
    arguments.addAll(message);
    return new Command.Eval(Scripts.RELEASE, false, List.of(key), arguments);
  }
}
