package dev.holdfast.redlock.internal.lock;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.LockException;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.core.Scheduler;
import dev.holdfast.core.Validity;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.Millis;
import dev.holdfast.redlock.internal.guard.QuarantineEnds;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.NodeSet;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at a lock, or one adoption of a transferred lock. All nodes are asked, and a quorum
 * grants. If the quorum gave different fencing tokens, a second trip stores the largest. An attempt
 * that is not granted is released. All of it has one limit: {@code quorumTimeout}, or the end of
 * the validity that a grant would have.
 */
final class AcquireAttempt {
  private final RedlockContext context;
  private final AlgorithmOptions options;
  private final Scheduler scheduler;
  private final NodeConnections connections;
  private final ReleaseRounds releases;
  private final QuorumFailures failures;
  private final Attempt attempt;
  private final String key;
  private final String token;
  private final @Nullable String transferred;
  private final ClockReading start;
  private final ClockReading validUntil;
  private final FencingTokens.TokenProposal proposal;
  private final QuarantineEnds quarantineEnds;
  private volatile @Nullable QuorumCall present;
  private NodeSet sent = NodeSet.NONE;

  /**
   * Sends nothing yet.
   *
   * @param transferred the token that the lock must hold, which is replaced, or null for a lock
   *     that must be free
   */
  AcquireAttempt(
      RedlockContext context, Attempt attempt, String token, @Nullable String transferred) {
    this.context = context;
    this.options = context.options();
    this.scheduler = context.scheduler();
    this.connections = context.connections();
    this.releases = context.releases();
    this.failures = context.failures();
    this.attempt = attempt;
    this.key = options.keyPrefix().keyOf(attempt.name());
    this.token = token;
    this.transferred = transferred;
    this.start = options.clock().now();
    this.validUntil = options.validity().until(start, attempt.ttl());
    this.quarantineEnds = context.quarantineEnds();
    this.proposal =
        context
            .fencingTokens()
            .propose(key, token, transferred, Millis.of(attempt.ttl()), connections.size());
  }

  /** Starts the attempt. */
  CompletableFuture<Outcome> start() {
    QuorumCall call = context.toAll(proposal.command(), new GrantPolicy());
    present = call;
    attempt.progress().outage(this::outageSoFar);
    sent = call.start(scheduler, left());
    return call.decision().thenCompose(votes -> endQuarantines(call, votes));
  }

  private CompletableFuture<Outcome> endQuarantines(QuorumCall call, Tally votes) {
    long limit = context.quorumNanos();
    NodeSet due = quarantineEnds.due(call, votes, limit);
    if (due.isEmpty()) {
      return counted(call, votes);
    }
    boolean decides = !votes.hasQuorumOfAnswers();
    CompletableFuture<NodeSet> ended = quarantineEnds.end(due, decides ? left() : limit);
    return decides
        ? ended.thenCompose(nodes -> counted(call, withVotesOf(nodes, votes)))
        : counted(call, votes);
  }

  private CompletableFuture<Outcome> counted(QuorumCall call, Tally votes) {
    if (!votes.isGranted()) {
      return notAcquired(call, votes);
    }
    OptionalLong fence = proposal.highest(votes);
    return proposal.isStored(votes, fence)
        ? acquired(call, votes, fence)
        : stored(fence.orElseThrow());
  }

  /** Counts nodes whose quarantine has just ended: they had all their data when they answered. */
  private Tally withVotesOf(NodeSet ended, Tally votes) {
    NodeSet granting = ended.filter(node -> voteOf(node) == Vote.MINE);
    NodeSet refusing = ended.filter(node -> voteOf(node) == Vote.OTHER);
    NodeSet missing = ended.filter(node -> voteOf(node) == Vote.MISSING);
    return votes
        .withVotes(granting, Vote.MINE)
        .withVotes(refusing, Vote.OTHER)
        .withVotes(missing, Vote.MISSING);
  }

  private @Nullable Vote voteOf(int quarantined) {
    Quarantine quarantine = quarantineEnds.at(quarantined);
    return quarantine == null ? null : proposal.read(quarantined, quarantine.code());
  }

  private CompletableFuture<Outcome> stored(long fence) {
    QuorumCall call =
        context.toAll(
            proposal.store(fence), VotePolicy.of(proposal::readStored, Tally::isExtensionDecided));
    present = call;
    call.start(scheduler, left());
    return call.decision()
        .thenCompose(
            votes ->
                votes.isGranted()
                    ? acquired(call, votes, OptionalLong.of(fence))
                    : notAcquired(call, votes));
  }

  private CompletableFuture<Outcome> acquired(QuorumCall call, Tally votes, OptionalLong fence) {
    return options.clock().now().nanosUntil(validUntil) > 0 && !connections.isVetoed()
        ? CompletableFuture.completedFuture(
            new RedlockGrant(attempt.name(), key, token, fence, validUntil, votes, sent))
        : notAcquired(call, votes);
  }

  /**
   * Releases the attempt on every node that was asked. The result waits for the answers of the
   * nodes that voted, within the attempt's deadline, and for no other node.
   */
  private CompletableFuture<Outcome> notAcquired(QuorumCall call, Tally votes) {
    NodeSet voters = votes.mine().union(votes.other());
    QuorumCall cleanup =
        releases.ofAttempt(key, token, sent, tally -> !voters.intersects(tally.pending()));
    cleanup.start(scheduler, left());
    endTransfer(votes);
    return cleanup
        .decision()
        .thenApply(
            seen -> {
              if (isLimitedByTtl() && validity() < connections.nodeTimeoutNanos()) {
                attempt.progress().limitedByTtl();
              }
              failures.requireAnswers(noVote(), call, votes);
              failures.requireOurTerms(noVote());
              if (transferred != null) {
                return new Lost(reasonNotAdopted(votes));
              }
              if (votes.isGranted()) {
                throw Validity.tooLate(attempt.name(), attempt.ttl());
              }
              requireLocks(call, votes, votes.other().intersect(seen.wrongType()));
              return new Refusal(
                  new LockVotes(votes.granted(), votes.refused(), votes.unanswered()));
            });
  }

  /**
   * Releases the transferred token, too, on every node, because every failure ends the transfer.
   * There is no need if a quorum denied the adoption and another token was seen: then the other
   * adopter may need what it has yet to replace.
   */
  private void endTransfer(Tally votes) {
    boolean isOver = votes.isDenied() && votes.lossReason() == LossReason.TAKEN;
    if (transferred != null && !sent.isEmpty() && !isOver) {
      releases
          .ofAttempt(key, transferred, connections.all(), Tally::isComplete)
          .start(scheduler, options.quorumTimeout().toNanos());
    }
  }

  /** Returns why a quorum that answered did not grant an adoption. */
  private static LossReason reasonNotAdopted(Tally votes) {
    boolean isLate = votes.isGranted();
    return isLate ? LossReason.EXPIRED : votes.lossReason();
  }

  /** Nodes where the key has another type keep no other owner out, but do not grant either. */
  private void requireLocks(QuorumCall call, Tally votes, NodeSet foreign) {
    int others = foreign.size();
    if (others > votes.nodes() - votes.quorum()) {
      throw failures.foreign(key, foreign);
    }
    boolean couldBeGranted = votes.refused() <= votes.nodes() - votes.quorum();
    if (others != 0 && couldBeGranted && votes.answered() - others < votes.quorum()) {
      throw failures.noQuorum(
          noVote() + ", whose key " + failures.noLockOn(foreign), call, votes, false);
    }
  }

  /** Returns the outage that this attempt is in, or null as long as the nodes do not look down. */
  private @Nullable LockException outageSoFar() {
    QuorumCall call = present;
    return call != null && call.isWithoutQuorum()
        ? failures.noQuorum(noVote(), call, call.tally(), false)
        : null;
  }

  private String noVote() {
    String adoption = transferred == null ? "" : "the adoption of ";
    String limit =
        isLimitedByTtl()
            ? " within %d ms, which is all that a ttl of %d ms leaves"
                .formatted(NANOSECONDS.toMillis(validity()), attempt.ttl().toMillis())
            : "";
    String message = "no quorum voted on " + adoption + "'" + attempt.name() + "'" + limit;
    return transferred == null
        ? message
        : message + (sent.isEmpty() ? "; its text stays usable" : "; its transfer is over");
  }

  /** Tells whether the time for answers is over and a longer ttl would have left more. */
  private boolean isLimitedByTtl() {
    return left() == 0 && validity() <= options.quorumTimeout().toNanos();
  }

  private long validity() {
    return start.nanosUntil(validUntil);
  }

  /** Returns the rest of the attempt's limit, in nanoseconds. */
  private long left() {
    ClockReading now = options.clock().now();
    long untilTimeout = options.quorumTimeout().toNanos() - (now.nanos() - start.nanos());
    return Math.max(0, Math.min(untilTimeout, now.nanosUntil(validUntil)));
  }

  /** Counts the votes of the first trip and notes the quarantines that it meets. */
  private final class GrantPolicy implements VotePolicy {
    @Override
    public @Nullable Vote read(int node, @Nullable Object reply) {
      return proposal.read(node, reply);
    }

    @Override
    public boolean isObserved() {
      return true;
    }

    @Override
    public boolean isDecided(Tally tally) {
      return tally.isGrantDecided();
    }

    @Override
    public void onQuarantine(int node, Quarantine quarantine) {
      quarantineEnds.onQuarantine(node, quarantine);
    }
  }
}
