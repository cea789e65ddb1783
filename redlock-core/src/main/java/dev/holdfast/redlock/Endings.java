package dev.holdfast.redlock;

import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The ends of quarantines that one round has seen. A client whose terms are not those of the nodes
 * must end none: its quarantines may be shorter, and its quorums need not meet those of others. So
 * a quarantine ends only if no node that answered votes for clients of other terms, and
 *
 * <ul>
 *   <li>a node that answered votes for this client's: then its longest ttl is what counts; or
 *   <li>all N nodes are in quarantine, so that nobody can be granted anything: then the longest ttl
 *       of all who asked for locks counts, and must have passed on a quorum. Whatever was granted
 *       before has expired then.
 * </ul>
 *
 * <p>Each end is a command of its own, which compares the quarantine with the one that was seen.
 */
final class Endings {
  private final Members members;
  private final Guard guard;
  private final Scheduler scheduler;
  private @Nullable Quarantine @Nullable [] seen;
  private boolean ours;
  private long lateNanos;

  Endings(Members members, Guard guard, Scheduler scheduler) {
    this.members = members;
    this.guard = guard;
    this.scheduler = scheduler;
  }

  /** Has this told of the quarantines that a round sees, before they count for it. */
  Ballot of(Ballot ballot) {
    ballot.whenQuarantined(this::seen);
    return ballot;
  }

  private void seen(int node, Quarantine quarantine) {
    boolean late;
    synchronized (this) {
      if (seen == null) {
        seen = new Quarantine[members.size()];
      }
      seen[node] = quarantine;
      late = ours && quarantine.isOver(Duration.ZERO);
    }
    if (late) {
      end(node, quarantine, lateNanos);
    }
  }

  /** Whether a node was seen in quarantine. */
  synchronized @Nullable Quarantine at(int node) {
    return seen == null ? null : seen[node];
  }

  /**
   * Which quarantines are to be ended, once the round is decided; bit i is node i. From then on
   * those that are seen late are ended, too, if they may.
   *
   * @param limitNanos how long a node may take to answer
   */
  synchronized long due(Ballot ballot, Tally votes, long limitNanos) {
    if (votes.failed() != 0 && sawOthers(ballot)) {
      return 0;
    }
    long voting =
        (votes.mine() | votes.other() | votes.missing() | votes.wrongType()) & ~inQuarantine();
    if (voting != 0) {
      ours = true;
      lateNanos = limitNanos;
      return over(Duration.ZERO);
    }
    if (inQuarantine() != members.all()) {
      return 0;
    }
    long over = over(longest());
    return Long.bitCount(over) >= votes.quorum() ? over : 0;
  }

  /** Whether a node votes for clients of other terms. */
  private boolean sawOthers(Ballot ballot) {
    for (int node = 0; node < members.size(); node++) {
      if (ballot.failure(node) instanceof NodeException cause && cause.isVeto()) {
        return true;
      }
    }
    return false;
  }

  private long inQuarantine() {
    long nodes = 0;
    for (int node = 0; node < members.size(); node++) {
      nodes |= at(node) == null ? 0 : 1L << node;
    }
    return nodes;
  }

  /** How much longer than ours is the longest quarantine that anybody asked for. */
  private Duration longest() {
    Duration longest = Duration.ZERO;
    for (int node = 0; node < members.size(); node++) {
      Quarantine quarantine = at(node);
      if (quarantine != null && quarantine.more().compareTo(longest) > 0) {
        longest = quarantine.more();
      }
    }
    return longest;
  }

  private long over(Duration others) {
    long over = 0;
    for (int node = 0; node < members.size(); node++) {
      Quarantine quarantine = at(node);
      over |= quarantine != null && quarantine.isOver(others) ? 1L << node : 0;
    }
    return over;
  }

  /**
   * Ends the quarantines of some nodes.
   *
   * @return completes with those where that was done, by this client or another of the same terms
   */
  CompletionStage<Long> end(long nodes, long limitNanos) {
    List<CompletableFuture<Long>> ends = new ArrayList<>();
    for (long left = nodes; left != 0; left &= left - 1) {
      int node = Long.numberOfTrailingZeros(left);
      Quarantine quarantine = at(node);
      if (quarantine != null) {
        ends.add(end(node, quarantine, limitNanos));
      }
    }
    return ends.stream()
        .reduce(
            CompletableFuture.completedFuture(0L),
            (one, other) -> one.thenCombine(other, (some, more) -> some | more));
  }

  private CompletableFuture<Long> end(int node, Quarantine quarantine, long limitNanos) {
    Ballot ballot =
        new Ballot(
            members,
            Ballot.Question.of(
                guard.command(Scripts.END, List.of(), List.of(quarantine.begun())),
                Scripts::compared,
                Tally::isComplete),
            1L << node,
            false);
    ballot.start(scheduler, limitNanos);
    return ballot.decision().thenApply(Tally::mine);
  }
}
