package dev.holdfast.redlock.internal.guard;

import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.spi.NodeSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The ends of quarantines that one round has seen. A client whose terms are not those of the nodes
 * must end no quarantine: its quarantines may be shorter, and its quorums need not meet those of
 * other clients. So a quarantine ends only if no node that answered votes for clients of other
 * terms, and
 *
 * <ul>
 *   <li>a node that answered votes for this client's terms: then the longest ttl of this client
 *       counts, or
 *   <li>all N nodes are in quarantine, so that no client can be granted a lock: then the longest
 *       ttl of all clients that asked for locks counts, and must have passed on a quorum. Every
 *       earlier grant has expired by then.
 * </ul>
 *
 * <p>Each end is a command of its own, which compares the quarantine with the one that was seen.
 */
public final class QuarantineEnds {
  private final NodeConnections connections;
  private final GuardTerms guard;
  private final Scheduler scheduler;
  private @Nullable Quarantine @Nullable [] seen;
  private boolean endsLateOnes;
  private long lateNanos;

  public QuarantineEnds(NodeConnections connections, GuardTerms guard, Scheduler scheduler) {
    this.connections = connections;
    this.guard = guard;
    this.scheduler = scheduler;
  }

  /** Notes a quarantine that the round sees, and ends it if the round is decided and it may end. */
  public void onQuarantine(int node, Quarantine quarantine) {
    boolean late;
    synchronized (this) {
      if (seen == null) {
        seen = new Quarantine[connections.size()];
      }
      seen[node] = quarantine;
      late = endsLateOnes && quarantine.isOver(Duration.ZERO);
    }
    if (late) {
      end(node, quarantine, lateNanos);
    }
  }

  /** Returns the quarantine in which a node was seen, or null if it was not. */
  synchronized @Nullable public Quarantine at(int node) {
    return seen == null ? null : seen[node];
  }

  /**
   * Decides which quarantines to end, once the round is decided. From then on quarantines that are
   * seen late are ended, too, if they may.
   *
   * @param limitNanos how long a node may take to answer
   */
  public synchronized NodeSet due(QuorumCall call, Tally votes, long limitNanos) {
    if (!votes.failed().isEmpty() && isVetoed(call)) {
      return NodeSet.NONE;
    }
    NodeSet inQuarantine = connections.all().filter(node -> at(node) != null);
    if (!votes.voters().minus(inQuarantine).isEmpty()) {
      endsLateOnes = true;
      lateNanos = limitNanos;
      return over(Duration.ZERO);
    }
    if (!inQuarantine.equals(connections.all())) {
      return NodeSet.NONE;
    }
    NodeSet over = over(longest());
    return over.size() >= votes.quorum() ? over : NodeSet.NONE;
  }

  /** Tells whether a node votes for clients of other terms. */
  private boolean isVetoed(QuorumCall call) {
    return !connections
        .all()
        .filter(node -> call.failure(node) instanceof NodeException cause && cause.isVeto())
        .isEmpty();
  }

  /** Returns by how much the longest quarantine that any client asked for exceeds ours. */
  private Duration longest() {
    Duration longest = Duration.ZERO;
    for (int node = 0; node < connections.size(); node++) {
      Quarantine quarantine = at(node);
      if (quarantine != null && quarantine.more().compareTo(longest) > 0) {
        longest = quarantine.more();
      }
    }
    return longest;
  }

  private NodeSet over(Duration others) {
    return connections
        .all()
        .filter(
            node -> {
              Quarantine quarantine = at(node);
              return quarantine != null && quarantine.isOver(others);
            });
  }

  /**
   * Ends the quarantines of some nodes.
   *
   * @return completes with the nodes whose quarantine this client or another one of the same terms
   *     ended
   */
  public CompletableFuture<NodeSet> end(NodeSet nodes, long limitNanos) {
    List<CompletableFuture<NodeSet>> ends = new ArrayList<>();
    nodes.forEach(
        node -> {
          Quarantine quarantine = at(node);
          if (quarantine != null) {
            ends.add(end(node, quarantine, limitNanos));
          }
        });
    return ends.stream()
        .reduce(
            CompletableFuture.completedFuture(NodeSet.NONE),
            (one, other) -> one.thenCombine(other, NodeSet::union));
  }

  private CompletableFuture<NodeSet> end(int node, Quarantine quarantine, long limitNanos) {
    QuorumCall call =
        new QuorumCall(
            connections,
            guard.command(Scripts.END, List.of(), List.of(quarantine.begun())),
            NodeSet.of(node),
            VotePolicy.of(Scripts::compared, Tally::isComplete));
    call.start(scheduler, limitNanos);
    return call.decision().thenApply(Tally::mine);
  }
}
