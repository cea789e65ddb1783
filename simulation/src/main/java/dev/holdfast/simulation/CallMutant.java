package dev.holdfast.simulation;

import static dev.holdfast.simulation.Flaw.edit;

import java.util.List;

/** The flaws in what calls report, and in how long they take. */
enum CallMutant implements Flaw {
  STRAGGLERS_LIKE_A_QUORUM(
      "a call waits for stragglers as long as for a quorum",
      Profile.SLOW,
      Invariant.STRAGGLERS,
      edit(
          "redlock/internal/round/QuorumCall",
          "waitFor(Math.min(limitNanos, Math.max(connections.nodeTimeoutNanos(), 2 * took)));",
          "waitFor(limitNanos);")),
  QUORUM_LIKE_STRAGGLERS(
      "a call waits for a quorum only as long as for stragglers",
      Profile.DISTANT,
      Invariant.UNDISTURBED,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "options.quorumTimeout().toNanos() - (now",
          "options.nodeTimeout().toNanos() - (now")),
  EXTENSION_OUTLIVES_ITS_LEASE(
      "an extension waits beyond the end of its lease",
      Profile.SLOW,
      Invariant.CALL_LIMIT,
      edit(
          "core/LeaseState",
          "context.scheduler().fork(this::failExtensions);",
          "context.scheduler().fork(() -> {});"),
      edit("redlock/internal/lock/RedlockPrimitive", "    grant.abandonExtension();\n", "")),
  RENEWED_FROM_THE_GRANT(
      "the first renewal is counted from the grant",
      Profile.SLOW,
      Invariant.RENEWAL,
      edit(
          "core/KeepAlive",
          "renewAfter(attemptedAt, new WeakReference<>(lease));",
          "renewIn(interval(), new WeakReference<>(lease));")),
  ERRORS_ARE_ANSWERS(
      "an error counts as an answer",
      Profile.ERRORS,
      Invariant.OUTAGE,
      edit(
          "redlock/internal/vote/Tally",
          "return granted() + refused();",
          "return granted() + refused() + unanswered();")),
  ERRORS_END_THE_WAIT(
      "after errors and answers of a quorum a call waits only for stragglers",
      Profile.ERRORS,
      Invariant.OUTAGE,
      edit(
          "redlock/internal/vote/Tally",
          "return hasQuorumOfAnswers() ||",
          "return answered() + unanswered() >= quorum() ||")),
  OUTAGE_IS_CONTENTION(
      "an outage is reported as contention",
      Profile.PARTITIONS,
      Invariant.OUTAGE,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "failures.requireAnswers(noVote(), call, votes);",
          "")),
  CONTENTION_IS_AN_OUTAGE(
      "contention is reported as an outage",
      Profile.BUSY,
      Invariant.OUTAGE,
      edit(
          "redlock/internal/lock/QuorumFailures",
          "!votes.hasQuorumOfAnswers()",
          "!votes.isGranted()")),
  OUTAGE_IN_QUEUE_IS_CONTENTION(
      "a wait that ends behind an attempt without answers is reported as contention",
      Profile.PARTITIONS,
      Invariant.OUTAGE,
      edit("core/WaitQueues", "waited ? queue.head.outageSoFar() : null", "waited ? null : null")),
  OUTAGE_SO_FAR_IS_FOR_ALL(
      "a request without a wait reports the present outage of the head's attempt",
      Profile.DISTANT,
      Invariant.UNDISTURBED,
      edit(
          "core/WaitQueues",
          "waited ? queue.head.outageSoFar() : null",
          "queue.head.outageSoFar()")),
  A_SHORT_TTL_IS_FOR_ALL(
      "waiters behind the head report an outage that the head's short ttl caused",
      Profile.BUSY,
      Invariant.UNDISTURBED,
      edit(
          "core/Waiter",
          "onFailed(new Outage(outage), !attempt.progress().isLimitedByTtl());",
          "onFailed(new Outage(outage), true);")),
  RELEASE_IS_ALWAYS_TRUE(
      "a release is true whatever the nodes answer",
      Profile.DATA_LOSS,
      Invariant.RELEASE_ANSWER,
      edit(
          "core/LeaseState",
          "released.result().complete(loss.isEmpty());",
          "released.result().complete(true);"),
      edit(
          "core/LeaseState",
          "return CompletableFuture.completedFuture(false);",
          "return CompletableFuture.completedFuture(true);")),
  RELEASE_WITHOUT_ANSWERS_IS_TRUE(
      "a release that no quorum answers is true",
      Profile.PARTITIONS,
      Invariant.RELEASE_ANSWER,
      edit(
          "redlock/internal/lock/RedlockPrimitive",
          "if (votes.hasQuorumOfAnswers()) {\n                return new Released(",
          "if (votes.nodes() > 0) {\n                return new Released(")),
  UNREACHABLE_IS_EXPIRED(
      "a lease whose renewal is not answered is lost: EXPIRED",
      Profile.PARTITIONS,
      Invariant.LOSS_REASON,
      edit(
          "core/GrantState",
          "return isAtLimit() ? this : new Held(validUntil, LossReason.UNREACHABLE, keptUntil);",
          "return this;")),
  TAKEN_IS_REMOVED(
      "TAKEN and REMOVED are mixed up",
      Profile.DATA_LOSS,
      Invariant.LOSS_REASON,
      edit(
          "redlock/internal/vote/Tally",
          "return other.union(wrongType).isEmpty() ?",
          "return !other.union(wrongType).isEmpty() ?")),
  DENIAL_IS_NO_LOSS(
      "an extension that a quorum denies is no loss",
      Profile.DATA_LOSS,
      Invariant.LOSS_REASON,
      edit(
          "redlock/internal/lock/LeaseExtension",
          "if (votes.isDenied()) {",
          "if (votes.isDenied() && votes.isGranted()) {")),
  RENEWED_IS_AT_ITS_LIMIT(
      "a lease with keepAliveUpTo is always lost: MAX_HOLD",
      Profile.PAUSES,
      Invariant.LOSS_REASON,
      edit(
          "core/LeaseState",
          "new Held(grant.validUntil(), LossReason.EXPIRED, keptUntil)",
          "new Held(grant.validUntil(), holdLimit.isSet() ? LossReason.MAX_HOLD :"
              + " LossReason.EXPIRED, keptUntil)")),
  RELEASED_LATE(
      "the keys of a failed attempt are released half a second later",
      Profile.CALM,
      Invariant.NO_ORPHANS,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "cleanup.start(scheduler, left());",
          """
          scheduler.schedule(
                  500_000_000L,
                  () ->
                      releases
                          .ofAttempt(key, token, sent, tally -> false)
                          .start(scheduler, options.quorumTimeout().toNanos()));
          cleanup.abandon();\
          """));

  @SuppressWarnings("ImmutableEnumChecker") // its list is one of List.of
  private final Description description;

  CallMutant(String about, Profile profile, Invariant breaks, Edit... edits) {
    this.description = new Description(about, profile, breaks, List.of(edits));
  }

  @Override
  public Description description() {
    return description;
  }
}
