package dev.holdfast.simulation;

import static dev.holdfast.simulation.Flaw.edit;

import java.util.List;

/** The flaws in the restart guard. */
enum GuardMutant implements Flaw {
  QUARANTINED_VOTE_COUNTS(
      "the vote of a node in quarantine counts",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/round/QuorumCall",
          "failed(node, () -> NodeException.of(quarantine));",
          "vote(node, quarantine.vote());")),
  EXTENSION_TRUSTS_QUARANTINED_NODES(
      "the vote of any node in quarantine for an extension counts",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/LeaseExtension",
          "return grant.isSure(node, clock.now());",
          "return true;")),
  TRUSTS_NODES_FROM_THE_SENDING_ON(
      "the vote of a node in quarantine for an extension counts if it was sent before the key may"
          + " have expired there",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/LeaseExtension",
          "private final ClockReading end;",
          "private final ClockReading end;\n  private final ClockReading start;"),
      edit(
          "redlock/internal/lock/LeaseExtension",
          "this.end = context.options().validity().until(clock.now(), ttl);",
          "this.start = clock.now();\n"
              + "    this.end = context.options().validity().until(start, ttl);"),
      edit(
          "redlock/internal/lock/LeaseExtension",
          "grant.isSure(node, clock.now())",
          "grant.isSure(node, start)")),
  TRUSTS_NODES_FOREVER(
      "the vote of a node in quarantine for an extension counts although the key may have expired"
          + " there",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/RedlockGrant",
          "end != null && now.nanosUntil(end) > 0;",
          "end != null;")),
  SECOND_TRIP_COUNTS_NODES_WITHOUT_A_VOTE(
      "a node that got the lock in quarantine votes by storing the fencing token",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "proposal::readStored,",
          "dev.holdfast.redlock.internal.vote.Scripts::compared,")),
  OTHERS_RECORD_IS_IGNORED(
      "clients with another maxTtl are not refused, and change the guard record",
      Profile.STRANGERS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "if seen[2] then return redis.error_reply('GUARDED ' .. seen[2]) end",
          "")),
  SHORTER_QUARANTINES_END_FIRST(
      "a client with a shorter maxTtl ends its quarantine first, whatever nodes vetoed its attempt",
      Profile.STRANGERS,
      Invariant.LIVENESS,
      vetoesAreIgnored(),
      edit(
          "redlock/internal/guard/QuarantineEnds",
          "if (!votes.voters().minus(inQuarantine).isEmpty()) {",
          "if (!votes.voters().minus(inQuarantine).isEmpty() || !longest().isZero()) {")),
  NODES_ARE_TAKEN_OVER_ONE_BY_ONE(
      "a client ends each quarantine that is over for it, whatever nodes vetoed its attempt: with"
          + " fewer nodes it takes over nodes that restart empty one by one, and gets locks that"
          + " other clients hold",
      Profile.STRANGERS,
      Invariant.LIVENESS,
      vetoesAreIgnored(),
      votersOfItsTermsAreIgnored()),
  UNVETOED_CLIENTS_END_QUARANTINES(
      "a client that no node vetoed ends quarantines, although no node with its terms answered",
      Profile.STRANGERS,
      Invariant.LIVENESS,
      votersOfItsTermsAreIgnored()),
  ENDS_ANOTHER_QUARANTINE(
      "the end of a quarantine does not compare it with the one that was seen",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/Scripts",
          "if ARGV[1] == string.format('%.0f', since) then",
          "if since > 0 then")),
  GUARD_IGNORES_THE_HISTORY(
      "the guard does not look at the replication history",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "local id = string.sub(text, place + 14, place + 53) .. ' ' ..",
          "local id = '' ..")),
  GUARD_IGNORES_THE_DATABASE(
      "the guard does not look at the number of the database",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "place + 53) .. ' ' .. ARGV[at + 1]",
          "place + 53)")),
  RECORD_IS_TRUSTED_FOREVER(
      "a guard record without a quarantine is trusted, whatever the node's history",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "if seen[1] ~= id or seen[2] ~= terms or seen[3] ~= '0' then",
          "if seen[2] ~= terms or seen[3] ~= '0' then")),
  QUARANTINE_CONCERNS_ONE_CLIENT(
      "a quarantine is over for all clients except the one that began it",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "if seen[1] ~= id or seen[2] ~= terms or seen[3] ~= '0' then",
          "if seen[1] ~= id or seen[2] ~= terms then")),
  MISSING_RECORD_IS_TRUSTED(
      "a node without a guard record votes",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "since = tonumber(seen[3] or now)",
          "since = tonumber(seen[3] or 0)"),
      edit(
          "redlock/internal/vote/GuardedScript",
          "or not seen[3] or now < since or wall < from then",
          "then"),
      edit(
          "redlock/internal/vote/GuardedScript",
          "since = now\n            from = wall",
          "if seen[1] then since = now end\n            from = wall")),
  RECORD_IS_NOT_REWRITTEN(
      "another run of a node is seen, but not recorded",
      Profile.GUARDED,
      Invariant.LIVENESS,
      edit(
          "redlock/internal/vote/GuardedScript",
          "redis.call('HSET', guard, 'id', id, 'since', since, 'wall', from, 'new', new)",
          "")),
  HALF_A_QUARANTINE(
      "a quarantine is half as long",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/guard/GuardTerms",
          "(quarantine.toNanos())",
          "(quarantine.toNanos() / 2)")),
  QUARANTINE_IS_NOT_RESTARTED(
      "a quarantine goes on although a clock shows less than at its start",
      Profile.GUARDED_CLOCKS,
      Invariant.LIVENESS,
      edit(
          "redlock/internal/vote/GuardedScript",
          "or not seen[3] or now < since or wall < from then",
          "then")),
  QUARANTINE_BY_THE_NODES_CLOCK(
      "only the node's clock ends a quarantine",
      Profile.CORRECTED_CLOCKS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "math.min(now - since, wall - from)",
          "(now - since)")),
  QUARANTINE_BY_THE_CLIENTS_CLOCK(
      "only the client's clock ends a quarantine",
      Profile.GUARDED_CLOCKS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/GuardedScript",
          "math.min(now - since, wall - from)",
          "(wall - from)"));

  @SuppressWarnings("ImmutableEnumChecker") // its list is one of List.of
  private final Description description;

  GuardMutant(String about, Profile profile, Invariant breaks, Edit... edits) {
    this.description = new Description(about, profile, breaks, List.of(edits));
  }

  private static Edit vetoesAreIgnored() {
    return edit(
        "redlock/internal/guard/QuarantineEnds",
        "if (!votes.failed().isEmpty() && isVetoed(call)) {",
        "if (votes.nodes() == 0) {");
  }

  private static Edit votersOfItsTermsAreIgnored() {
    return edit(
        "redlock/internal/guard/QuarantineEnds",
        "if (!votes.voters().minus(inQuarantine).isEmpty()) {",
        "if (votes.nodes() != 0) {");
  }

  @Override
  public Description description() {
    return description;
  }
}
