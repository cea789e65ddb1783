package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.lock.PendingReleases.Pending;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.NodeConnector;
import dev.holdfast.redlock.internal.notify.ReleaseNotifications;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.internal.vote.VoteReader;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.Round;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes the rounds that release locks on every node. A release that a broken connection may have
 * lost is pending and is sent once more, on the next connection.
 */
final class ReleaseRounds {
  private final NodeConnections connections;
  private final AlgorithmOptions options;
  private final Clock clock;
  private final Scheduler scheduler;
  private final PendingReleases pending;
  private final Set<Integer> resending = ConcurrentHashMap.newKeySet();

  ReleaseRounds(NodeConnections connections, AlgorithmOptions options, Scheduler scheduler) {
    this.connections = connections;
    this.options = options;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.pending = new PendingReleases(clock, connections.size());
  }

  /** Makes the round that releases a held lock and notifies waiters. */
  QuorumCall ofLock(
      RedlockGrant grant,
      RemainingLife remaining,
      ReleaseNotifications.ReleaseNotification notification) {
    VoteReader reader =
        (node, reply) -> {
          notification.onReply(node, reply);
          return Scripts.compared(node, reply);
        };
    return call(
        pending(
            grant.key(),
            grant.token(),
            remaining,
            notification.message(),
            options.maxTtl().toNanos()),
        reader,
        grant.sent(),
        Tally::isReleaseDecided);
  }

  /**
   * Makes the round that deletes keys of a lost lock. Waiters are not notified of it. It is pending
   * for as long as the keys may live.
   *
   * @param remaining the life that the denied release may have given the keys
   */
  QuorumCall ofLengthened(RedlockGrant grant, RemainingLife remaining) {
    long now = clock.nanos();
    RemainingLife none = RemainingLife.none(now);
    long life = Math.max(options.maxTtl().toNanos(), remaining.until() - now);
    return call(
        pending(grant.key(), grant.token(), none, List.of(), life),
        Scripts::compared,
        grant.sent(),
        Tally::isReleaseDecided);
  }

  /** Makes the round that releases a failed attempt. Waiters are not notified of it. */
  QuorumCall ofAttempt(String key, String token, NodeSet sent, Predicate<Tally> decided) {
    RemainingLife none = RemainingLife.none(clock.nanos());
    return call(
        pending(key, token, none, List.of(), options.maxTtl().toNanos()),
        Scripts::compared,
        sent,
        decided);
  }

  private QuorumCall call(
      Pending release, VoteReader reader, NodeSet sent, Predicate<Tally> decided) {
    VotePolicy policy = new ReleasePolicy(release, reader, sent, decided);
    return new QuorumCall(connections, command(release), connections.all(), policy);
  }

  /** Takes the releases that are pending at a node, and returns their rounds. */
  List<Round> takePending(int node) {
    return pending.take(node).stream().map(release -> again(node, release)).toList();
  }

  private Round again(int node, Pending release) {
    NodeSet one = NodeSet.of(node);
    return new QuorumCall(
            connections,
            command(release),
            one,
            new ReleasePolicy(release, Scripts::compared, one, Tally::isComplete))
        .round(scheduler, options.quorumTimeout().toNanos());
  }

  private void defer(int node, Pending release) {
    pending.add(node, release);
    if (connections.isUp(node) && resending.add(node)) {
      scheduler.schedule(NodeConnector.RECONNECT_NANOS, () -> resend(node));
    }
  }

  /** Sends again what a node refused although its connection lasts. */
  private void resend(int node) {
    resending.remove(node);
    if (connections.isUp(node)) {
      takePending(node).forEach(connections::submit);
    }
  }

  /**
   * Notes a release until the key is gone.
   *
   * @param lifeNanos the longest ttl, because only an executed release makes the key live longer.
   *     More only if such a release may have been executed
   */
  private Pending pending(
      String key, String token, RemainingLife remaining, List<String> message, long lifeNanos) {
    return new Pending(key, token, remaining, message, clock.nanos() + lifeNanos);
  }

  private Command command(Pending release) {
    long millis = release.remaining().millisLeft(clock.nanos());
    if (millis > 0) {
      return keepCommand(release, millis);
    }
    List<String> arguments = new ArrayList<>(1 + release.message().size());
    arguments.add(release.token());
    arguments.addAll(release.message());
    return new Command.Eval(Scripts.RELEASE, false, List.of(release.key()), arguments);
  }

  private Command keepCommand(Pending release, long millis) {
    String key = release.key();
    return new Command.Eval(
        Scripts.KEEP,
        false,
        options.isFencing() ? List.of(key, FencingTokens.counterOf(key)) : List.of(key),
        List.of(
            release.token(),
            Long.toString(millis),
            release.remaining().mayLengthen() ? "1" : "0",
            Long.toString(millis + FencingTokens.lifeMillis(options))));
  }

  /** Counts the votes on a release, and defers it at each node that fails after it got the lock. */
  private final class ReleasePolicy implements VotePolicy {
    private final Pending release;
    private final VoteReader reader;
    private final NodeSet sent;
    private final Predicate<Tally> decided;

    /**
     * Makes a policy.
     *
     * @param sent the nodes that may hold the key
     */
    ReleasePolicy(Pending release, VoteReader reader, NodeSet sent, Predicate<Tally> decided) {
      this.release = release;
      this.reader = reader;
      this.sent = sent;
      this.decided = decided;
    }

    @Override
    public @Nullable Vote read(int node, @Nullable Object reply) {
      return reader.read(node, reply);
    }

    @Override
    public boolean isDecided(Tally tally) {
      return decided.test(tally);
    }

    @Override
    public void onFailure(int node) {
      if (sent.contains(node)) {
        defer(node, release);
      }
    }

    @Override
    public boolean sendsSourceAfterDecision() {
      return true;
    }
  }
}
