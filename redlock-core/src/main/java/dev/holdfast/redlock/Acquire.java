package dev.holdfast.redlock;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.LockException;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.core.Moment;
import dev.holdfast.core.Scheduler;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at a lock: all nodes are asked; a quorum grants; if the quorum gave different fencing
 * tokens, the largest is stored in a second trip; what is not granted is taken back. All of it has
 * one limit: {@code quorumTimeout}, or the end of the validity that a grant would have.
 */
final class Acquire {
  private final RedlockOptions options;
  private final Scheduler scheduler;
  private final Members members;
  private final Releases releases;
  private final Outages outages;
  private final Attempt attempt;
  private final String key;
  private final String token;
  private final Moment start;
  private final Moment validUntil;
  private final Fences.Proposal proposal;
  private final Endings endings;
  private volatile @Nullable Ballot present;
  private long sent;

  Acquire(
      RedlockOptions options,
      Scheduler scheduler,
      Releases releases,
      Outages outages,
      Attempt attempt,
      String token,
      Fences fences,
      Guard guard) {
    this.options = options;
    this.scheduler = scheduler;
    this.members = releases.members();
    this.releases = releases;
    this.outages = outages;
    this.attempt = attempt;
    this.key = options.keyPrefix().keyOf(attempt.name());
    this.token = token;
    this.start = options.clock().now();
    this.validUntil = options.validity().until(start, attempt.ttl());
    this.endings = new Endings(members, guard, scheduler);
    this.proposal = fences.propose(key, token, Millis.of(attempt.ttl()), members.size());
  }

  CompletionStage<Outcome> outcome() {
    Ballot ballot =
        endings.of(
            Ballot.of(
                members,
                proposal.command(),
                proposal::read,
                Tally::isGrantDecided,
                attempt.callerWaits()));
    present = ballot;
    attempt.progress().outage(this::outageSoFar);
    sent = ballot.start(scheduler, left());
    return ballot
        .decision()
        .thenCompose(
            votes -> {
              long limit = options.quorumTimeout().toNanos();
              long over = endings.due(ballot, votes, limit);
              if (over == 0) {
                return counted(ballot, votes);
              }
              boolean decides = !votes.hasQuorumOfAnswers();
              CompletionStage<Long> ended = endings.end(over, decides ? left() : limit);
              return decides
                  ? ended.thenCompose(nodes -> counted(ballot, withVotesOf(nodes, votes)))
                  : counted(ballot, votes);
            });
  }

  private CompletionStage<Outcome> counted(Ballot ballot, Tally votes) {
    if (!votes.isGranted()) {
      return notAcquired(ballot, votes);
    }
    OptionalLong fence = proposal.highest(votes);
    return proposal.isStored(votes, fence)
        ? acquired(ballot, votes, fence)
        : stored(fence.orElseThrow());
  }

  /** Counts nodes whose quarantine has just ended: they had all their data when they answered. */
  private Tally withVotesOf(long ended, Tally votes) {
    Tally counted = votes;
    for (long left = ended; left != 0; left &= left - 1) {
      int node = Long.numberOfTrailingZeros(left);
      Quarantine quarantine = endings.at(node);
      Answer answer = quarantine == null ? null : proposal.read(node, quarantine.code());
      if (answer != null) {
        counted = counted.withVoteOf(node, answer);
      }
    }
    return counted;
  }

  private CompletionStage<Outcome> stored(long fence) {
    Ballot ballot =
        Ballot.of(
            members,
            proposal.store(fence),
            proposal::readStored,
            Tally::isExtensionDecided,
            attempt.callerWaits());
    present = ballot;
    ballot.start(scheduler, left());
    return ballot
        .decision()
        .thenCompose(
            votes ->
                votes.isGranted()
                    ? acquired(ballot, votes, OptionalLong.of(fence))
                    : notAcquired(ballot, votes));
  }

  private CompletionStage<Outcome> acquired(Ballot ballot, Tally votes, OptionalLong fence) {
    return options.clock().now().nanosUntil(validUntil) > 0 && !members.isVetoed()
        ? CompletableFuture.completedFuture(
            new RedlockGrant(
                attempt.name(), key, token, fence, validUntil, members.size(), votes.mine(), sent))
        : notAcquired(ballot, votes);
  }

  /**
   * Takes back what was granted, on every node that was asked. Those that voted are heard again
   * before the result is told, within the attempt's deadline; nobody waits for the others.
   */
  private CompletionStage<Outcome> notAcquired(Ballot ballot, Tally votes) {
    long heard = votes.mine() | votes.other();
    Ballot cleanup =
        releases.ofAttempt(
            key, token, sent, tally -> (heard & tally.pending()) == 0, attempt.callerWaits());
    cleanup.start(scheduler, left());
    return cleanup
        .decision()
        .thenApply(
            seen -> {
              if (isLimitedByTtl() && validity() < members.nodeTimeoutNanos()) {
                attempt.progress().limitedByTtl();
              }
              outages.requireAnswers(noVote(), ballot, votes);
              outages.requireOurTerms(noVote());
              requireLocks(ballot, votes, votes.other() & seen.wrongType());
              return new Refusal(votes.granted(), votes.refused(), votes.unanswered());
            });
  }

  /** Nodes where the key is of another type keep nobody out, but grant nothing. */
  private void requireLocks(Ballot ballot, Tally votes, long foreign) {
    int others = Long.bitCount(foreign);
    if (others > votes.nodes() - votes.quorum()) {
      throw outages.foreign(key, foreign);
    }
    boolean couldBeGranted = votes.refused() <= votes.nodes() - votes.quorum();
    if (others != 0 && couldBeGranted && votes.answered() - others < votes.quorum()) {
      throw outages.noQuorum(
          noVote() + ", whose key " + outages.noLockOn(foreign), ballot, votes, false);
    }
  }

  /** Null as long as the nodes do not look down. */
  private @Nullable LockException outageSoFar() {
    Ballot ballot = present;
    return ballot != null && ballot.isWithoutQuorum()
        ? outages.noQuorum(noVote(), ballot, ballot.tally(), false)
        : null;
  }

  private String noVote() {
    String message = "no quorum voted on '" + attempt.name() + "'";
    return isLimitedByTtl()
        ? message
            + " within %d ms, which is all that a ttl of %d ms leaves"
                .formatted(NANOSECONDS.toMillis(validity()), attempt.ttl().toMillis())
        : message;
  }

  /** Whether the time for answers is over, and would not be with a longer ttl. */
  private boolean isLimitedByTtl() {
    return left() == 0 && validity() <= options.quorumTimeout().toNanos();
  }

  private long validity() {
    return start.nanosUntil(validUntil);
  }

  /** What is left of the attempt's limit, in nanoseconds. */
  private long left() {
    Moment now = options.clock().now();
    long untilTimeout = options.quorumTimeout().toNanos() - (now.nanos() - start.nanos());
    return Math.max(0, Math.min(untilTimeout, now.nanosUntil(validUntil)));
  }
}
