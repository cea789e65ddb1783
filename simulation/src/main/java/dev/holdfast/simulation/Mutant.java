package dev.holdfast.simulation;

import java.util.List;

/** The flaws in the algorithm, and in the simulated driver. */
enum Mutant implements Flaw {
  QUORUM_IS_HALF(
      "half of the nodes are a quorum",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit("redlock/Tally", "return nodes / 2 + 1;", "return (nodes + 1) / 2;")),
  QUORUM_IS_SMALLER(
      "one node less than a quorum is enough",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit("redlock/Tally", "return nodes / 2 + 1;", "return Math.max(1, nodes / 2);")),
  QUORUM_OF_REACHABLE(
      "a quorum of those that can be reached is enough",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit(
          "redlock/Tally",
          "return quorumOf(nodes);",
          "return quorumOf(nodes - Long.bitCount(failed));")),
  DELETE_WITHOUT_COMPARE(
      "a release deletes whatever is there",
      Profile.BUSY,
      Invariant.OWN_KEYS_ONLY,
      edit(
          "redlock/Scripts",
          "if value ~= ARGV[1] then return 0 end\n          if ARGV[2] == '0' then",
          "if ARGV[2] == '0' then")),
  EXTEND_WITHOUT_COMPARE(
      "an extension prolongs whatever is there",
      Profile.PAUSES,
      Invariant.OWN_KEYS_ONLY,
      edit(
          "redlock/Scripts",
          "elseif value ~= ARGV[1] then\n              code = 0\n            elseif redis.call('PTTL'",
          "elseif redis.call('PTTL'")),
  EXTENSION_OVERWRITES(
      "an extension puts its token in the place of another's",
      Profile.PAUSES,
      Invariant.OWN_KEYS_ONLY,
      edit(
          "redlock/Scripts",
          "elseif value ~= ARGV[1] then\n              code = 0\n            elseif redis.call('PTTL'",
          "elseif value ~= ARGV[1] then\n            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n"
              + "          elseif redis.call('PTTL'")),
  EXTENSION_SHORTENS(
      "an extension sets the time to live, even to less",
      Profile.SLOW,
      Invariant.NEVER_SHORTENED,
      edit(
          "redlock/Scripts",
          "elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then",
          "elseif redis.call('PTTL', KEYS[1]) ~= 0 then")),
  VALIDITY_FROM_REPLY(
      "validity is counted from the reply",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/Acquire",
          "attempt.name(), key, token, fence, validUntil,",
          "attempt.name(), key, token, fence,"
              + " options.validity().until(options.clock().now(), attempt.ttl()),")),
  EXTENSION_FROM_REPLY(
      "the validity of an extension is counted from the reply",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/RedlockPrimitive",
          "return new Extended(end);",
          "return new Extended(options.validity().until(clock.now(), ttl));")),
  NO_DRIFT_ALLOWANCE(
      "nothing is deducted for the drift of clocks",
      Profile.CLOCKS,
      Invariant.EXCLUSION,
      edit("core/Validity", "nanos - driftOf(nanos)", "nanos")),
  NO_VALIDITY_CHECK(
      "a quorum is enough, however late it is",
      Profile.PAUSES,
      Invariant.BORN_HELD,
      edit(
          "redlock/Acquire",
          "return options.clock().now().nanosUntil(validUntil) > 0",
          "return votes.isGranted()")),
  WALL_CLOCK_ONLY(
      "elapsed time is that of the wall clock",
      Profile.CLOCKS,
      Invariant.EXCLUSION,
      edit(
          "core/Moment",
          "return Math.max(nanos - earlier.nanos, (wallMicros - earlier.wallMicros) * 1000);",
          "return (wallMicros - earlier.wallMicros) * 1000;")),
  MONOTONIC_CLOCK_ONLY(
      "elapsed time is that of the monotonic clock",
      Profile.SLEEPS,
      Invariant.EXCLUSION,
      edit(
          "core/Moment",
          "return Math.max(nanos - earlier.nanos, (wallMicros - earlier.wallMicros) * 1000);",
          "return nanos - earlier.nanos;")),
  SMALLER_CLOCK(
      "elapsed time is the smaller of what the clocks say",
      Profile.SLEEPS,
      Invariant.EXCLUSION,
      edit("core/Moment", "return Math.max(nanos - earlier", "return Math.min(nanos - earlier")),
  NIL_IS_A_VOTE(
      "a refused SET counts as granted",
      Profile.CALM,
      Invariant.EXCLUSION,
      edit("redlock/Fences", "0L : null) ? Answer.OTHER", "0L : null) ? Answer.MINE"),
      edit("redlock/Fences", "fence == 0 ? Answer.OTHER", "fence == 0 ? Answer.MINE")),
  ERROR_IS_A_VOTE(
      "an error counts as granted",
      Profile.ERRORS,
      Invariant.EXCLUSION,
      edit(
          "redlock/Ballot",
          "failed(node, () -> NodeException.reply(plain));",
          "vote(node, Answer.MINE);")),
  FAILURE_IS_A_VOTE(
      "a node that cannot be reached counts as granted",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit(
          "redlock/Ballot",
          "failed(node, () -> NodeException.of(cause));",
          "vote(node, Answer.MINE);")),
  SILENCE_IS_A_VOTE(
      "who has not answered by the deadline counts as granted",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/Ballot",
          "counted = count(null, silent);",
          "counted = count(Answer.MINE, silent);")),
  NO_DEADLINE(
      "a round waits until all nodes have answered",
      Profile.SLOW,
      Invariant.CALL_LIMIT,
      edit(
          "redlock/Ballot",
          "limit(scheduler, limitNanos);\n    Tally counted",
          "limit(scheduler, 1000 * limitNanos);\n    Tally counted")),
  CLEANUP_HAS_ITS_OWN_TIME(
      "cleaning up after a failed round gets a second deadline",
      Profile.SLOW,
      Invariant.CALL_LIMIT,
      edit(
          "redlock/Acquire",
          "cleanup.start(scheduler, left());",
          "cleanup.start(scheduler, options.quorumTimeout().toNanos());")),
  ONE_TOKEN_FOR_ALL(
      "every attempt of a client has the same token",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit("redlock/Tokens", "random.nextBytes(bytes);", "java.util.Objects.hash(random);")),
  NO_CLEANUP(
      "a failed round is not taken back",
      Profile.CALM,
      Invariant.NO_ORPHANS,
      edit(
          "redlock/Acquire",
          "releases.ofAttempt(\n            key, token, sent,",
          "releases.ofAttempt(\n            key, token + \"x\", sent,")),
  RELEASE_TO_GRANTING_ONLY(
      "a release goes only to the nodes that voted for the grant",
      Profile.SLOW,
      Invariant.NO_ORPHANS,
      edit("redlock/Acquire", "votes.mine(), sent)", "votes.mine(), votes.mine())"),
      edit(
          "redlock/Releases",
          "enough, owe),\n        members.all(),",
          "enough, owe),\n        sent,"),
      edit(
          "redlock/Ballot",
          "long asked, boolean callerWaits) {",
          "long chosen, boolean callerWaits) {\n    long asked = chosen;"),
      edit(
          "redlock/Ballot",
          "new Tally(members.size(), 0, 0, 0, 0, 0, asked)",
          "new Tally(members.size(), 0, 0, 0, 0, -1L >>> (64 - members.size()) & ~asked, asked)")),
  NO_SECOND_RELEASE(
      "a release whose connection broke is not sent again",
      Profile.LOSSY,
      Invariant.NO_ORPHANS,
      edit("redlock/Releases", "owed.add(node, release);", "")),
  LOST_LEASE_IS_LEFT(
      "what is left of a lost lease is not released",
      Profile.PAUSES,
      Invariant.NO_ORPHANS,
      edit("core/HeldLock", "giveBack(minHold, false);\n    leases", "leases")),
  EXTENSION_REVIVES(
      "an extension whose reply comes after the end of validity revives the lease",
      Profile.PAUSES,
      Invariant.NO_REVIVAL,
      edit(
          "core/HeldLock",
          "while (phase() instanceof Held held) {\n      if (extension instanceof Lost",
          """
          if (extension instanceof Extended e) {
            phase.set(new Held(e.validUntil()));
            return;
          }
          while (phase() instanceof Held held) {
            if (extension instanceof Lost""")),
  EXTENSION_AFTER_EXPIRY(
      "the end of validity is seen by its timer only",
      Profile.PAUSES,
      Invariant.EXCLUSION,
      edit(
          "core/HeldLock",
          "Phase phase() {\n    while (true) {",
          "Phase phase() {\n    return Objects.requireNonNull(phase.get());\n  }\n\n"
              + "  Phase seenByTimer() {\n    while (true) {"),
      edit(
          "core/HeldLock",
          "if (phase() instanceof Held held) {\n      long left",
          "if (seenByTimer() instanceof Held held) {\n      long left")),
  SLEEP_IS_NOT_NOTICED(
      "timers alone end leases, though the wall clock has gone ahead of them",
      Profile.LONG_HOLDS_IN_SLEEP,
      Invariant.LOSS_TOLD,
      edit("core/SleepWatch", "leapt.run();", "")),
  NEARER_END_IS_NOT_WATCHED(
      "after a sleep leases are looked at once, and their timers stay as they are",
      Profile.LONG_HOLDS_IN_SLEEP,
      Invariant.LOSS_TOLD,
      edit("core/HeldLock", "stopWatching();\n    watch();", "phase();")),
  RELEASED_IS_STILL_HELD(
      "a lease is held until its release has been answered",
      Profile.CALM,
      Invariant.NO_REVIVAL,
      edit(
          "core/LeaseHandle",
          "return lock.phase() instanceof HeldLock.Held;",
          "return lock.phase() instanceof HeldLock.Held\n"
              + "        || (lock.phase() instanceof HeldLock.Released r && !r.given().isDone());")),
  LOST_AFTER_RELEASE(
      "lost() completes after a good release too",
      Profile.CALM,
      Invariant.LOST_ONCE,
      edit(
          "core/HeldLock",
          "released.given().complete(loss.isEmpty());",
          "released.given().complete(loss.isEmpty());\n"
              + "    surroundings.scheduler().fork(() -> lost.tell(LossReason.REMOVED));")),
  NO_HOLD_LIMIT(
      "renewals go on past keepAliveUpTo",
      Profile.CALM,
      Invariant.HOLD_LIMIT,
      edit(
          "core/HeldLock",
          "grantedAt.plusNanos(Nanos.of(hold))",
          "grantedAt.plusNanos(1000 * Nanos.of(hold))")),
  RENEWED_TOO_LATE(
      "a lease is renewed only when its ttl has passed",
      Profile.CALM,
      Invariant.UNDISTURBED,
      edit("core/KeepAlive", "RENEWALS_PER_TTL = 3;", "RENEWALS_PER_TTL = 1;")),
  NEVER_RECONNECTS(
      "a connection that ended is not made again",
      Profile.CRASHES,
      Invariant.LIVENESS,
      edit(
          "redlock/Members",
          "scheduler.schedule(ended.restNanos(), () -> connect(node));",
          "scheduler.schedule(ended.restNanos(), () -> {});")),
  NO_WRITE_BACK(
      "the largest of the fencing tokens is granted, whoever has stored it",
      Profile.FENCES,
      Invariant.FENCING,
      edit("redlock/Fences", "return storing >= votes.quorum();", "return storing >= 0;")),
  A_MINORITY_STORED_IT(
      "a fencing token that one node less than a quorum has stored is granted",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/Fences",
          "return storing >= votes.quorum();",
          "return storing >= votes.quorum() - 1;")),
  UNCONDITIONAL_WRITE_BACK(
      "a fencing token is stored whoever has the lock there, and counts",
      Profile.FENCED_ROUNDS,
      Invariant.FENCING,
      edit(
          "redlock/Scripts",
          "if not value then return 2 end\n          if value ~= ARGV[1] then return 0 end\n"
              + "          local fence",
          "local fence"),
      edit("redlock/Acquire", "proposal::readStored,", "Scripts::compared,")),
  WRITE_BACK_SETS_BACK(
      "a fencing token is stored even in the place of a larger one",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/Scripts",
          "if (tonumber(redis.call('GET', KEYS[2]) or 0) or 0) < fence then",
          "if fence then")),
  WRITE_BACK_IS_NOT_AWAITED(
      "a fencing token is stored, but granted whatever the nodes answer",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/Acquire",
          "votes.isGranted()\n                    ? acquired",
          "votes.nodes() > 0\n                    ? acquired")),
  COUNTER_IS_NOT_INCREMENTED(
      "a node gives what the client proposes, whatever it gave before",
      Profile.FENCES,
      Invariant.FENCING,
      edit("redlock/Scripts", "math.max(last + 1, here", "math.max(here")),
  SMALLEST_OF_THE_VOTES(
      "the fencing token is the smallest of the votes",
      Profile.FENCES,
      Invariant.FENCING,
      edit("redlock/Fences", "long highest = 0;", "long highest = LARGEST;"),
      edit(
          "redlock/Fences",
          "highest = Math.max(highest, given[node]);",
          "highest = Math.min(highest, given[node]);"),
      edit("redlock/Fences", "return storing >= votes.quorum();", "return storing > 0;")),
  LATE_VOTES_COUNT_FOR_THE_TOKEN(
      "the fencing token is the largest that any node gave, also after it was stored",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/Acquire",
          "acquired(ballot, votes, OptionalLong.of(fence))",
          "acquired(ballot, votes, proposal.highest(new Tally(0, -1, 0, 0, 0, 0, 0)))")),
  NO_VALIDITY_CHECK_AFTER_THE_SECOND_TRIP(
      "a quorum has stored the fencing token: enough, however late it is",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/Acquire",
          "? acquired(ballot, votes, OptionalLong.of(fence))",
          """
          ? CompletableFuture.completedFuture(
                            new RedlockGrant(
                                attempt.name(),
                                key,
                                token,
                                OptionalLong.of(fence),
                                options.validity().until(start, attempt.ttl()),
                                members.size(),
                                votes.mine(),
                                sent))""")),
  COUNTER_EXPIRES_WITH_THE_LOCK(
      "a counter lives as long as the lock",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/Scripts",
          "local life = ARGV[4]\n"
              + "              if code > here then life = life + math.ceil((code - here) / 1000) end",
          "local life = ARGV[2]")),
  CLOCK_FAR_BEHIND_IS_FOLLOWED(
      "a node follows a client's clock, however far behind its own",
      Profile.CLOCKS,
      Invariant.FENCING,
      edit(
          "redlock/Scripts",
          "math.max(last + 1, here - 10000000, math.min(",
          "math.max(last + 1, math.min(")),
  SECOND_TRIP_HAS_ITS_OWN_TIME(
      "storing the fencing token gets a second deadline",
      Profile.FENCES,
      Invariant.CALL_LIMIT,
      edit(
          "redlock/Acquire",
          "present = ballot;\n    ballot.start(scheduler, left());",
          "present = ballot;\n    ballot.start(scheduler, options.quorumTimeout().toNanos());")),
  QUARANTINED_VOTE_COUNTS(
      "the vote of a node under quarantine counts",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/Ballot",
          "failed(node, () -> NodeException.of(quarantine));",
          "vote(node, quarantine.vote());")),
  EXTENSION_TRUSTS_QUARANTINED_NODES(
      "an extension's vote of any node under quarantine counts",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit("redlock/RedlockPrimitive", "node -> ours.isSure(node, clock.now()),", "node -> true,")),
  TRUSTS_NODES_FROM_THE_SENDING_ON(
      "an extension's vote of a node under quarantine counts if it was sent before the key may have"
          + " expired there",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/RedlockPrimitive",
          "ours.isSure(node, clock.now())",
          "ours.isSure(node, start)")),
  TRUSTS_NODES_FOR_EVER(
      "an extension's vote of a node under quarantine counts though the key may have expired there",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit("redlock/RedlockGrant", "end != null && now.nanosUntil(end) > 0;", "end != null;")),
  SECOND_TRIP_COUNTS_WHO_DID_NOT_VOTE(
      "a node that got the lock under quarantine votes by storing the fencing token",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit("redlock/Acquire", "proposal::readStored,", "Scripts::compared,")),
  OTHERS_RECORD_IS_IGNORED(
      "clients with another maxTtl go on, and change the record",
      Profile.STRANGERS,
      Invariant.EXCLUSION,
      edit(
          "redlock/Vote",
          "if seen[2] then return redis.error_reply('GUARDED ' .. seen[2]) end",
          "")),
  SHORTER_QUARANTINES_END_FIRST(
      "a client with a shorter maxTtl ends its quarantine first, whatever nodes vetoed its attempt",
      Profile.STRANGERS,
      Invariant.LIVENESS,
      edit(
          "redlock/Endings",
          "if (votes.failed() != 0 && sawOthers(ballot)) {",
          "if (votes.nodes() == 0) {"),
      edit("redlock/Endings", "if (voting != 0) {", "if (voting != 0 || !longest().isZero()) {")),
  NODES_ARE_TAKEN_OVER_ONE_BY_ONE(
      "a client ends each quarantine that is over for it, whatever nodes vetoed its attempt: one with"
          + " fewer nodes takes over nodes that restart empty one by one, and grants beside others",
      Profile.STRANGERS,
      Invariant.LIVENESS,
      edit(
          "redlock/Endings",
          "if (votes.failed() != 0 && sawOthers(ballot)) {",
          "if (votes.nodes() == 0) {"),
      edit("redlock/Endings", "if (voting != 0) {", "if (votes.nodes() != 0) {")),
  WHOEVER_IS_NOT_VETOED_ENDS_QUARANTINES(
      "a client that no node vetoed ends quarantines, though no node of its terms answered",
      Profile.STRANGERS,
      Invariant.LIVENESS,
      edit("redlock/Endings", "if (voting != 0) {", "if (votes.nodes() != 0) {")),
  ENDS_ANOTHER_QUARANTINE(
      "the end of a quarantine does not compare it with the one that was seen",
      Profile.GUARDED_ROUNDS,
      Invariant.EXCLUSION,
      edit(
          "redlock/Scripts",
          "if ARGV[1] == string.format('%.0f', since) then",
          "if since > 0 then")),
  GUARD_IGNORES_THE_HISTORY(
      "the guard does not look at the replication history",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/Vote",
          "local id = string.sub(text, place + 14, place + 53) .. ' ' ..",
          "local id = '' ..")),
  GUARD_IGNORES_THE_DATABASE(
      "the guard does not look at the number of the database",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit("redlock/Vote", "place + 53) .. ' ' .. ARGV[at + 1]", "place + 53)")),
  WRITTEN_DOWN_IS_WHOLE_FOR_EVER(
      "a record that says whole is believed, whatever the node's history",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/Vote",
          "if seen[1] ~= id or seen[2] ~= terms or seen[3] ~= '0' then",
          "if seen[2] ~= terms or seen[3] ~= '0' then")),
  WRITTEN_DOWN_IS_WHOLE_AT_ONCE(
      "a quarantine is over for all but the one who began it",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit(
          "redlock/Vote",
          "if seen[1] ~= id or seen[2] ~= terms or seen[3] ~= '0' then",
          "if seen[1] ~= id or seen[2] ~= terms then")),
  MISSING_RECORD_IS_WHOLE(
      "a node without a record of the guard is taken for whole",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit("redlock/Vote", "since = tonumber(seen[3] or now)", "since = tonumber(seen[3] or 0)"),
      edit("redlock/Vote", "or not seen[3] or now < since or wall < from then", "then"),
      edit(
          "redlock/Vote",
          "since = now\n            from = wall",
          "if seen[1] then since = now end\n            from = wall")),
  RECORD_IS_NOT_REWRITTEN(
      "another run of a node is seen, but not written down",
      Profile.GUARDED,
      Invariant.LIVENESS,
      edit(
          "redlock/Vote",
          "redis.call('HSET', guard, 'id', id, 'since', since, 'wall', from, 'new', new)",
          "")),
  HALF_A_QUARANTINE(
      "a quarantine is half as long",
      Profile.GUARDED,
      Invariant.EXCLUSION,
      edit("redlock/Guard", "(quarantine.toNanos())", "(quarantine.toNanos() / 2)")),
  QUARANTINE_IS_NOT_BEGUN_ANEW(
      "a quarantine goes on although a clock shows less than at its start",
      Profile.GUARDED_CLOCKS,
      Invariant.LIVENESS,
      edit("redlock/Vote", "or not seen[3] or now < since or wall < from then", "then")),
  QUARANTINE_BY_THE_NODES_CLOCK(
      "only the node's clock ends a quarantine",
      Profile.MENDED_CLOCKS,
      Invariant.EXCLUSION,
      edit("redlock/Vote", "math.min(now - since, wall - from)", "(now - since)")),
  QUARANTINE_BY_THE_CLIENTS_CLOCK(
      "only the client's clock ends a quarantine",
      Profile.GUARDED_CLOCKS,
      Invariant.EXCLUSION,
      edit("redlock/Vote", "math.min(now - since, wall - from)", "(wall - from)")),
  TOLD_IN_MID_ATTEMPT_IS_FORGOTTEN(
      "a release that is told of during an attempt is no reason for another",
      Profile.SLOW,
      Invariant.TOLD,
      edit(
          "core/Acquisition",
          "} else if (toldMoment > 0) {",
          "} else if (toldMoment > 0 && waitNanos < 0) {")),
  ALL_NODES_MAKE_NEWS(
      "a release is news only when every node has told it",
      Profile.CRASHES,
      Invariant.TOLD,
      edit(
          "redlock/Notices",
          "Long.bitCount(now) == Tally.quorumOf(size)",
          "Long.bitCount(now) == size")),
  EAR_IS_NEVER_MENDED(
      "a connection that listens is not made again",
      Profile.CRASHES,
      Invariant.LISTENS,
      edit(
          "redlock/Notices",
          "scheduler.schedule(Members.RECONNECT_NANOS, () -> again(node));",
          "")),
  LISTENS_ON(
      "the last of a line goes, and it listens on",
      Profile.BUSY,
      Invariant.DEAF,
      edit("core/WaitingLines", "own.listenNoMore();", "own.hashCode();")),
  HANDED_OVER_IN_VAIN(
      "who was handed a lock over, and did not get it, is not woken when the release is answered",
      Profile.CRASHES,
      Invariant.NEXT,
      edit("core/HandOver", "lines.wake(name, inRow + 1);", "")),
  LINE_IS_NOT_WOKEN(
      "a release that hands over to nobody wakes nobody",
      Profile.BUSY,
      Invariant.NEXT,
      edit("core/HandOver", "lines.wake(name, othersAreNext ? 0 : inRow + 1);", "")),
  PAUSE_OUTLASTS_THE_WAIT(
      "a pause between attempts goes on when the wait is over",
      Profile.CALM,
      Invariant.CALL_LIMIT,
      edit(
          "core/Acquisition",
          "Math.min(waitNanos - waited(), surroundings.jitter(longest))",
          "surroundings.jitter(longest)")),
  DRIVER_REPLAYS(
      "the driver sends again what was not answered when its connection ended",
      Profile.LOSSY,
      Invariant.NO_ORPHANS,
      edit("simulation/Connection", "byNetwork && world.rates.driverReplays", "byNetwork")),
  DRIVER_REORDERS(
      "a command can overtake another on the same connection",
      Profile.SLOW,
      Invariant.NO_ORPHANS,
      edit(
          "simulation/Connection",
          "arrivesUpAfter = Math.max(arrivesUpAfter, Math.max(world.now(), host.pausedUntil()) + delay());",
          "arrivesUpAfter = Math.max(world.now(), host.pausedUntil()) + delay();"));

  private final String about;
  private final Profile profile;
  private final Invariant breaks;

  @SuppressWarnings("ImmutableEnumChecker") // it is one of List.of
  private final List<Edit> edits;

  Mutant(String about, Profile profile, Invariant breaks, Edit... edits) {
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
