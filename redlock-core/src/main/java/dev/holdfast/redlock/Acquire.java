package dev.holdfast.redlock;

import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.core.Moment;
import dev.holdfast.core.Scheduler;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One attempt at a lock: all nodes are asked; a quorum grants; if the quorum gave different fencing
 * tokens, the largest is stored in a second trip; what is not granted is taken back. All of it has
 * one deadline.
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
  private final Fences.Proposal proposal;
  private long sent;
  private long allowance;

  Acquire(
      RedlockOptions options,
      Scheduler scheduler,
      Releases releases,
      Outages outages,
      Attempt attempt,
      String token,
      Fences fences) {
    this.options = options;
    this.scheduler = scheduler;
    this.members = releases.members();
    this.releases = releases;
    this.outages = outages;
    this.attempt = attempt;
    this.key = options.keyPrefix().keyOf(attempt.name());
    this.token = token;
    this.start = options.clock().now();
    this.proposal = fences.propose(key, token, Millis.of(attempt.ttl()), members.size());
  }

  CompletionStage<Outcome> outcome() {
    Ballot ballot =
        Ballot.of(
            members,
            proposal.command(),
            proposal::read,
            Tally::isGrantDecided,
            attempt.callerWaits());
    sent = ballot.start(scheduler, options.nodeTimeout().toNanos());
    return ballot
        .decision()
        .thenCompose(
            votes -> {
              allowance = ballot.allowance();
              if (!votes.isGranted()) {
                return notAcquired(ballot, votes);
              }
              OptionalLong fence = proposal.highest(votes);
              return proposal.isStored(votes, fence)
                  ? acquired(ballot, votes, fence)
                  : stored(fence.orElseThrow());
            });
  }

  private CompletionStage<Outcome> stored(long fence) {
    Ballot ballot =
        Ballot.of(
            members,
            proposal.store(fence),
            proposal::readStored,
            Tally::isExtensionDecided,
            attempt.callerWaits());
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
    Moment validUntil = options.validity().until(start, attempt.ttl());
    return options.clock().now().nanosUntil(validUntil) > 0
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
              outages.requireAnswers("no quorum voted on '" + attempt.name() + "'", ballot, votes);
              long foreign = votes.other() & seen.wrongType();
              if (votes.granted() < votes.quorum()
                  && votes.granted() + Long.bitCount(foreign) >= votes.quorum()) {
                throw outages.foreign(key, foreign);
              }
              return new Refusal(votes.granted(), votes.refused(), votes.unanswered());
            });
  }

  /** Of the deadline, or of the second look if there was one, in nanoseconds. */
  private long left() {
    long elapsed = options.clock().nanos() - start.nanos();
    return Math.max(0, options.nodeTimeout().toNanos() + allowance - elapsed);
  }
}
