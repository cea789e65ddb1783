package dev.holdfast.tck.broken;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Verb;
import dev.holdfast.tck.broken.Way.Examined;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** All nodes of one manager, and what is asked of them at once. */
class Members {
  private static final System.Logger LOG = System.getLogger(Members.class.getName());
  private static final Duration STRAGGLERS = Duration.ofMillis(100);

  private final List<Member> all;
  private final Scheduler network;
  private final Duration connectTimeout;
  private final Map<String, Member> byIdentity = new HashMap<>();
  private @Nullable CompletableFuture<Void> opened;

  Members(List<Member> all, Scheduler network, Duration connectTimeout) {
    this.all = all;
    this.network = network;
    this.connectTimeout = connectTimeout;
  }

  List<Member> all() {
    return all;
  }

  /** Connects. Completes once a quorum is there and the others have had their chance. */
  synchronized CompletableFuture<Void> open() {
    CompletableFuture<Void> last = opened;
    if (last != null && !last.isCompletedExceptionally()) {
      return last;
    }
    CompletableFuture<Void> opening = new CompletableFuture<>();
    opened = opening;
    network.schedule(
        0,
        () -> all.forEach(m -> m.open(found -> wrongWith(m, found), () -> settle(opening, false))));
    network.schedule(STRAGGLERS.toNanos(), () -> completeIfQuorum(opening));
    network.schedule(connectTimeout.toNanos(), () -> settle(opening, true));
    return opening;
  }

  /** Asks nodes, and decides as soon as enough have answered. */
  CompletableFuture<Votes> ask(Poll poll) {
    Request request = poll.request();
    Round round = new Round(poll);
    network.schedule(
        0,
        () -> {
          for (Member node : poll.nodes()) {
            node.ask(
                request,
                () -> request.verb() != Verb.EXTEND || !round.decision.isDone(),
                reply -> {
                  if (reply instanceof NodeError error
                      && error.isUnheard()
                      && poll.pending().test(node)) {
                    node.defer(request);
                  }
                  round.count(node, reply);
                });
          }
          round.asked();
        });
    Duration limit = poll.limit().quorum();
    network.schedule(limit.toNanos(), () -> round.expire(limit));
    return round.decision;
  }

  /** Returns what keeps a node from voting. */
  String wrongWith(Member member, Examined found) {
    Member same = byIdentity.putIfAbsent(found.identity(), member);
    if (same != null && same != member) {
      return member.name() + " is the same server as " + same.name() + ": list each server once";
    }
    if (found.isReplica()) {
      return member.name() + " is a replica: list masters only";
    }
    if (found.evicts()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "{0} can evict locks: its maxmemory-policy is allkeys-lru",
          member.name());
    }
    return "";
  }

  void close() {
    network.schedule(0, () -> all.forEach(Member::close));
  }

  /** Whether so many nodes are enough to begin with. */
  boolean isEnough(long up) {
    return up > all.size() / 2;
  }

  private void completeIfQuorum(CompletableFuture<Void> opening) {
    if (isEnough(all.stream().filter(Member::isUp).count())) {
      opening.complete(null);
    }
  }

  private void settle(CompletableFuture<Void> opening, boolean over) {
    all.stream()
        .map(Member::failure)
        .filter(failure -> failure.kind() == Kind.MENDABLE)
        .findFirst()
        .ifPresent(
            failure ->
                opening.completeExceptionally(
                    new LockConfigurationException(String.valueOf(failure.getMessage()), failure)));
    if (over || all.stream().allMatch(Member::isSettled)) {
      completeIfQuorum(opening);
      Map<String, NodeError> failures = new LinkedHashMap<>();
      all.stream().filter(m -> !m.isUp()).forEach(m -> failures.put(m.name(), m.failure()));
      opening.completeExceptionally(
          new LockOutageException(
              all.size() - failures.size() + " of " + all.size() + " nodes can be reached",
              failures,
              false));
    }
  }

  /** The votes as they come in. The first of each node counts. */
  private final class Round {
    private final Poll poll;
    private final long begun = System.nanoTime();
    private final CompletableFuture<Votes> decision = new CompletableFuture<>();
    private Votes votes;
    private boolean allAsked;
    private boolean missesLastOnly;

    Round(Poll poll) {
      this.poll = poll;
      this.votes = Votes.none(all.size(), poll.nodes().size());
    }

    void count(Member node, Object reply) {
      if (!votes.replies().containsKey(node)) {
        votes = votes.with(node, reply);
        decide();
      }
    }

    void asked() {
      allAsked = true;
      decide();
    }

    private void decide() {
      if (allAsked && (votes.isComplete() || poll.enough().test(votes))) {
        decision.complete(votes);
      } else if (allAsked && !missesLastOnly && votes.missesLastOnly()) {
        missesLastOnly = true;
        long took = System.nanoTime() - begun;
        Duration waits = Duration.ofNanos(Math.max(poll.limit().node().toNanos(), 2 * took));
        network.schedule(waits.toNanos() - took, () -> expire(waits));
      }
    }

    void expire(Duration waited) {
      NodeError silent =
          new NodeError(Kind.SILENT, "no answer within " + waited.toMillis() + " ms");
      poll.nodes().forEach(node -> count(node, silent));
    }
  }
}
