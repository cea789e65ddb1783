package dev.holdfast.simulation;

import java.util.List;

/** The flaws in what calls report, and in how long they take. */
enum CallMutant implements Flaw {
  STRAGGLERS_LIKE_A_QUORUM(
      "stragglers are waited for as long as a quorum",
      Profile.SLOW,
      Invariant.STRAGGLERS,
      edit(
          "redlock/Ballot",
          "waitFor(Math.min(limitNanos, Math.max(members.nodeTimeoutNanos(), 2 * took)));",
          "waitFor(limitNanos);")),
  QUORUM_LIKE_STRAGGLERS(
      "a quorum is waited for only as long as stragglers",
      Profile.DISTANT,
      Invariant.UNDISTURBED,
      edit(
          "redlock/Acquire",
          "options.quorumTimeout().toNanos() - (now",
          "options.nodeTimeout().toNanos() - (now")),
  EXTENSION_OUTLIVES_ITS_LEASE(
      "an extension waits beyond the end of its lease",
      Profile.SLOW,
      Invariant.CALL_LIMIT,
      edit(
          "core/HeldLock",
          "surroundings.scheduler().fork(this::endExtensions);",
          "surroundings.scheduler().fork(() -> {});"),
      edit("redlock/RedlockPrimitive", "    ours.abandonExtension();\n", "")),
  RENEWED_FROM_THE_GRANT(
      "the first renewal is counted from the grant",
      Profile.SLOW,
      Invariant.RENEWAL,
      edit(
          "core/KeepAlive",
          "renewAfter(begunAt);\n  }\n\n  void stop",
          "renewIn(interval());\n  }\n\n  void stop")),
  ERRORS_ARE_ANSWERS(
      "an error counts as an answer",
      Profile.ERRORS,
      Invariant.OUTAGE,
      edit(
          "redlock/Tally",
          "return granted() + refused();",
          "return granted() + refused() + unanswered();")),
  ERRORS_END_THE_WAIT(
      "after errors and answers of a quorum only stragglers are waited for",
      Profile.ERRORS,
      Invariant.OUTAGE,
      edit(
          "redlock/Tally",
          "return hasQuorumOfAnswers() ||",
          "return answered() + unanswered() >= quorum() ||")),
  OUTAGE_IS_CONTENTION(
      "an outage is reported as contention",
      Profile.PARTITIONS,
      Invariant.OUTAGE,
      edit("redlock/Acquire", "outages.requireAnswers(noVote(), ballot, votes);", "")),
  CONTENTION_IS_AN_OUTAGE(
      "contention is reported as an outage",
      Profile.BUSY,
      Invariant.OUTAGE,
      edit("redlock/Outages", "!votes.hasQuorumOfAnswers()", "!votes.isGranted()")),
  OUTAGE_IN_LINE_IS_CONTENTION(
      "a wait that ends behind an attempt without answers is reported as contention",
      Profile.PARTITIONS,
      Invariant.OUTAGE,
      edit("core/WaitingLines", "waited ? line.head.outageSoFar() : null", "waited ? null : null")),
  OUTAGE_SO_FAR_IS_EVERYBODYS(
      "a request without a wait reports the outage that the head's attempt is in so far",
      Profile.DISTANT,
      Invariant.UNDISTURBED,
      edit(
          "core/WaitingLines",
          "waited ? line.head.outageSoFar() : null",
          "line.head.outageSoFar()")),
  A_SHORT_TTL_IS_EVERYBODYS(
      "others in line report an outage that the head's short ttl made",
      Profile.BUSY,
      Invariant.UNDISTURBED,
      edit(
          "core/Acquisition",
          "again(new Outage(outage), !progress.isLimitedByTtl());",
          "again(new Outage(outage), true);")),
  RELEASE_IS_ALWAYS_TRUE(
      "a release is true whatever the nodes answer",
      Profile.DATA_LOSS,
      Invariant.RELEASE_ANSWER,
      edit(
          "core/HeldLock",
          "released.given().complete(loss.isEmpty());",
          "released.given().complete(true);"),
      edit(
          "core/HeldLock",
          "return CompletableFuture.completedFuture(false);",
          "return CompletableFuture.completedFuture(true);")),
  RELEASE_WITHOUT_ANSWERS_IS_TRUE(
      "a release that no quorum answers is true",
      Profile.PARTITIONS,
      Invariant.RELEASE_ANSWER,
      edit(
          "redlock/RedlockPrimitive",
          "if (votes.hasQuorumOfAnswers()) {\n                return new Released(",
          "if (votes.nodes() > 0) {\n                return new Released(")),
  UNREACHABLE_IS_EXPIRED(
      "a lease whose renewal is not answered is lost: EXPIRED",
      Profile.PARTITIONS,
      Invariant.LOSS_REASON,
      edit(
          "core/HeldLock",
          "return unreachable || isBeingRenewed ?",
          "return unreachable && isBeingRenewed && atLimit ?")),
  TAKEN_IS_REMOVED(
      "TAKEN and REMOVED are mixed up",
      Profile.DATA_LOSS,
      Invariant.LOSS_REASON,
      edit(
          "redlock/RedlockPrimitive",
          "(votes.other() | votes.wrongType()) != 0 ?",
          "(votes.other() | votes.wrongType()) == 0 ?")),
  DENIAL_IS_NO_LOSS(
      "an extension that a quorum denies is no loss",
      Profile.DATA_LOSS,
      Invariant.LOSS_REASON,
      edit(
          "redlock/RedlockPrimitive",
          "if (votes.isDenied()) {\n                return new Lost(",
          "if (votes.isDenied() && votes.isGranted()) {\n                return new Lost(")),
  KEPT_IS_AT_ITS_LIMIT(
      "a lease with keepAliveUpTo is always lost: MAX_HOLD",
      Profile.PAUSES,
      Invariant.LOSS_REASON,
      edit("core/HeldLock", "if (atLimit) {", "if (longestHold != null) {")),
  TAKEN_BACK_LATE(
      "a failed attempt is taken back half a second later",
      Profile.CALM,
      Invariant.NO_ORPHANS,
      edit(
          "redlock/Acquire",
          "cleanup.start(scheduler, left());",
          """
          scheduler.schedule(
                  500_000_000L,
                  () ->
                      releases
                          .ofAttempt(key, token, sent, tally -> false, false)
                          .start(scheduler, options.quorumTimeout().toNanos()));
          cleanup.abandon();"""));

  private final String about;
  private final Profile profile;
  private final Invariant breaks;

  @SuppressWarnings("ImmutableEnumChecker") // it is one of List.of
  private final List<Edit> edits;

  CallMutant(String about, Profile profile, Invariant breaks, Edit... edits) {
    this.about = about;
    this.profile = profile;
    this.breaks = breaks;
    this.edits = List.of(edits);
  }

  private static Edit edit(String file, String before, String after) {
    return new Edit(file, before, after);
  }

  @Override
  public String about() {
    return about;
  }

  @Override
  public Profile profile() {
    return profile;
  }

  @Override
  public Invariant breaks() {
    return breaks;
  }

  @Override
  public List<Edit> edits() {
    return edits;
  }
}
