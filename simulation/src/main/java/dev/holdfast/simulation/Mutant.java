package dev.holdfast.simulation;

import static dev.holdfast.simulation.Flaw.edit;

import java.util.List;

/** The flaws in the algorithm, and in the simulated driver. */
enum Mutant implements Flaw {
  QUORUM_IS_HALF(
      "half of the nodes are a quorum",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit("redlock/internal/vote/Tally", "return nodes / 2 + 1;", "return (nodes + 1) / 2;")),
  QUORUM_IS_SMALLER(
      "one node less than a quorum is enough",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/Tally",
          "return nodes / 2 + 1;",
          "return Math.max(1, nodes / 2);")),
  QUORUM_OF_REACHABLE(
      "a quorum of those that can be reached is enough",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/vote/Tally",
          "return quorumOf(nodes);",
          "return quorumOf(nodes - failed.size());")),
  DELETE_WITHOUT_COMPARE(
      "a release deletes any value",
      Profile.BUSY,
      Invariant.OWN_KEYS_ONLY,
      edit(
          "redlock/internal/vote/Scripts",
          "if value ~= ARGV[1] then return 0 end\n          redis.call('DEL', KEYS[1])",
          "redis.call('DEL', KEYS[1])")),
  EXTEND_WITHOUT_COMPARE(
      "an extension extends any value",
      Profile.PAUSES,
      Invariant.OWN_KEYS_ONLY,
      edit(
          "redlock/internal/vote/Scripts",
          "elseif value ~= ARGV[1] then\n              code = 0\n            elseif"
              + " redis.call('PTTL'",
          "elseif redis.call('PTTL'")),
  EXTENSION_OVERWRITES(
      "an extension puts its token in the place of another's",
      Profile.PAUSES,
      Invariant.OWN_KEYS_ONLY,
      edit(
          "redlock/internal/vote/Scripts",
          "elseif value ~= ARGV[1] then\n              code = 0\n            elseif"
              + " redis.call('PTTL'",
          """
          elseif value ~= ARGV[1] then
            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
          elseif redis.call('PTTL'""")),
  EXTENSION_SHORTENS(
      "an extension sets the time to live, even to less",
      Profile.SLOW,
      Invariant.NEVER_SHORTENED,
      edit(
          "redlock/internal/vote/Scripts",
          "elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then",
          "elseif redis.call('PTTL', KEYS[1]) ~= 0 then")),
  VALIDITY_FROM_REPLY(
      "validity is counted from the reply",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "fence, validUntil,",
          "fence, options.validity().until(options.clock().now(), attempt.ttl()),")),
  EXTENSION_FROM_REPLY(
      "the validity of an extension is counted from the reply",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/LeaseExtension",
          "return new Extended(end);",
          "return new Extended(context.options().validity().until(clock.now(), ttl));")),
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
          "redlock/internal/lock/AcquireAttempt",
          "return options.clock().now().nanosUntil(validUntil) > 0",
          "return votes.isGranted()")),
  WALL_CLOCK_ONLY(
      "elapsed time is that of the wall clock",
      Profile.CLOCKS,
      Invariant.EXCLUSION,
      edit(
          "core/ClockReading",
          "return Math.max(nanos - earlier.nanos, (wallMicros - earlier.wallMicros) * 1000);",
          "return (wallMicros - earlier.wallMicros) * 1000;")),
  MONOTONIC_CLOCK_ONLY(
      "elapsed time is that of the monotonic clock",
      Profile.SLEEPS,
      Invariant.EXCLUSION,
      edit(
          "core/ClockReading",
          "return Math.max(nanos - earlier.nanos, (wallMicros - earlier.wallMicros) * 1000);",
          "return nanos - earlier.nanos;")),
  SMALLER_CLOCK(
      "elapsed time is the smaller of the two clocks' times",
      Profile.SLEEPS,
      Invariant.EXCLUSION,
      edit(
          "core/ClockReading",
          "return Math.max(nanos - earlier",
          "return Math.min(nanos - earlier")),
  NIL_IS_A_VOTE(
      "a refused SET counts as granted",
      Profile.CALM,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/FencingTokens",
          "0L : null) ? Vote.OTHER",
          "0L : null) ? Vote.MINE"),
      edit(
          "redlock/internal/lock/FencingTokens",
          "number == 0 ? Vote.OTHER",
          "number == 0 ? Vote.MINE")),
  ERROR_IS_A_VOTE(
      "an error counts as granted",
      Profile.ERRORS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/round/QuorumCall",
          "failed(node, () -> NodeException.reply(plain));",
          "vote(node, Vote.MINE);")),
  FAILURE_IS_A_VOTE(
      "a node that cannot be reached counts as granted",
      Profile.PARTITIONS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/round/QuorumCall",
          "failed(node, () -> NodeException.of(cause));",
          "vote(node, Vote.MINE);")),
  SILENCE_IS_A_VOTE(
      "a node that has not answered by the deadline counts as granted",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/round/QuorumCall",
          "counted = count(null, silent);",
          "counted = count(Vote.MINE, silent);")),
  NO_DEADLINE(
      "a round waits until all nodes have answered",
      Profile.SLOW,
      Invariant.CALL_LIMIT,
      edit(
          "redlock/internal/round/QuorumCall",
          "limit(scheduler, limitNanos);\n    Tally counted",
          "limit(scheduler, 1000 * limitNanos);\n    Tally counted")),
  CLEANUP_HAS_ITS_OWN_TIME(
      "cleaning up after a failed round gets a second deadline",
      Profile.SLOW,
      Invariant.CALL_LIMIT,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "cleanup.start(scheduler, left());",
          "cleanup.start(scheduler, options.quorumTimeout().toNanos());")),
  ONE_TOKEN_FOR_ALL(
      "every attempt of a client has the same token",
      Profile.SLOW,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/LockValues",
          "random.nextBytes(bytes);",
          "java.util.Objects.hash(random);")),
  NO_CLEANUP(
      "the keys of a failed round are not released",
      Profile.CALM,
      Invariant.NO_ORPHANS,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "releases.ofAttempt(key, token, sent,",
          "releases.ofAttempt(key, token + \"x\", sent,")),
  RELEASE_TO_GRANTING_ONLY(
      "a release goes only to the nodes that voted for the grant",
      Profile.SLOW,
      Invariant.NO_ORPHANS,
      edit("redlock/internal/lock/AcquireAttempt", "votes, sent)", "votes, votes.mine())"),
      edit(
          "redlock/internal/lock/ReleaseRounds",
          "command(release), connections.all(), policy",
          "command(release), sent, policy"),
      edit(
          "redlock/internal/round/QuorumCall",
          "Tally.before(connections.size(), asked)",
          "Tally.before(connections.size(),"
              + " connections.all()).withFailures(connections.all().minus(asked))")),
  NO_SECOND_RELEASE(
      "a release whose connection broke is not sent again",
      Profile.LOSSY,
      Invariant.NO_ORPHANS,
      edit("redlock/internal/lock/ReleaseRounds", "pending.add(node, release);", "")),
  LOST_LEASE_IS_LEFT(
      "the remaining keys of a lost lease are not released",
      Profile.PAUSES,
      Invariant.NO_ORPHANS,
      edit(
          "core/LeaseState",
          "releaseKeys(held);\n    leases",
          "new CompletableFuture<>();\n    leases")),
  LOST_LEASE_LENGTHENS(
      "the release of the remaining keys of a lost lease lengthens their life",
      Profile.LONG_HOLDS,
      Invariant.NO_ORPHANS,
      edit(
          "core/LeaseState",
          "held != null && left > 0 && current() instanceof Released && nanosLeft(held) > 0;",
          "held != null;")),
  RELEASE_NEVER_LENGTHENS(
      "a release only shortens the life of a key",
      Profile.LONG_HOLDS,
      Invariant.HOLD_KEPT,
      edit(
          "redlock/internal/vote/Scripts",
          "if longer or left > tonumber(ARGV[2]) then",
          "if left > tonumber(ARGV[2]) then")),
  EXTENSION_REVIVES(
      "an extension whose reply comes after the end of validity revives the lease",
      Profile.PAUSES,
      Invariant.NO_REVIVAL,
      edit(
          "core/LeaseState",
          "while (expireAndGet() instanceof Held held) {\n      if (failure != null) {",
          """
          if (extension instanceof Extended e) {
            state.set(new Held(e.validUntil(), LossReason.EXPIRED, 0));
            return;
          }
          while (expireAndGet() instanceof Held held) {
            if (failure != null) {\
          """)),
  EXTENSION_AFTER_EXPIRY(
      "the end of validity is seen by its timer only",
      Profile.PAUSES,
      Invariant.EXCLUSION,
      edit(
          "core/LeaseState",
          "void expireIfDue() {\n",
          "void expireIfDue() {}\n\n  void expireByTimer() {\n"),
      edit(
          "core/LeaseState",
          "if (expireAndGet() instanceof Held held) {\n      expiry",
          "expireByTimer();\n    if (current() instanceof Held held) {\n      expiry")),
  SLEEP_IS_NOT_NOTICED(
      "only timers end leases, although the wall clock has gone ahead of them",
      Profile.LONG_HOLDS_IN_SLEEP,
      Invariant.LOSS_NOTIFIED,
      edit("core/SleepWatch", "leapt.run();", "")),
  NEARER_END_IS_NOT_WATCHED(
      "after a sleep leases are looked at once, and their timers stay as they are",
      Profile.LONG_HOLDS_IN_SLEEP,
      Invariant.LOSS_NOTIFIED,
      edit(
          "core/ActiveLeases",
          "open.forEach(LeaseState::watch)",
          "open.forEach(LeaseState::expireIfDue)")),
  RELEASED_IS_STILL_HELD(
      "a lease is held until its release has been answered",
      Profile.CALM,
      Invariant.NO_REVIVAL,
      edit(
          "core/DefaultLease",
          "return lock.isHeld();",
          "return lock.isHeld()\n"
              + "        || (lock.current() instanceof GrantState.Released r &&"
              + " !r.result().isDone());")),
  LOST_AFTER_RELEASE(
      "onLoss() completes after a good release too",
      Profile.CALM,
      Invariant.LOST_ONCE,
      edit(
          "core/LeaseState",
          "released.result().complete(loss.isEmpty());",
          "released.result().complete(loss.isEmpty());\n"
              + "    context.scheduler().fork(() -> lossStage.lose(LossReason.REMOVED));")),
  NO_HOLD_LIMIT(
      "renewals go on past keepAliveUpTo",
      Profile.CALM,
      Invariant.HOLD_LIMIT,
      edit(
          "core/HoldLimit",
          "grantedAt.plusNanos(Nanos.of(hold))",
          "grantedAt.plusNanos(1000 * Nanos.of(hold))")),
  RENEWED_TOO_LATE(
      "a lease is renewed only when its ttl has passed",
      Profile.CALM,
      Invariant.UNDISTURBED,
      edit("core/KeepAlive", "RENEWALS_PER_TTL = 3;", "RENEWALS_PER_TTL = 1;")),
  NEVER_RECONNECTS(
      "a connection that ended is not re-established",
      Profile.CRASHES,
      Invariant.LIVENESS,
      edit(
          "redlock/internal/nodes/NodeConnector",
          "scheduler.schedule(ended.retryInNanos(), () -> connect(node));",
          "scheduler.schedule(ended.retryInNanos(), () -> {});")),
  NO_WRITE_BACK(
      "the largest of the fencing tokens is granted, even if no quorum has stored it",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/lock/FencingTokens",
          "return storing.size() >= votes.quorum();",
          "return storing.size() >= 0;")),
  A_MINORITY_STORED_IT(
      "a fencing token that one node less than a quorum has stored is granted",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/lock/FencingTokens",
          "return storing.size() >= votes.quorum();",
          "return storing.size() >= votes.quorum() - 1;")),
  UNCONDITIONAL_WRITE_BACK(
      "a fencing token is stored, and counts, even if another client has the lock there",
      Profile.FENCED_ROUNDS,
      Invariant.FENCING,
      edit(
          "redlock/internal/vote/Scripts",
          "if not value then return 2 end\n          if value ~= ARGV[1] then return 0 end\n"
              + "          local fence",
          "local fence"),
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "proposal::readStored,",
          "dev.holdfast.redlock.internal.vote.Scripts::compared,")),
  WRITE_BACK_SETS_BACK(
      "a fencing token is stored even in the place of a larger one",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/vote/Scripts",
          "if (tonumber(redis.call('GET', KEYS[2]) or 0) or 0) < fence then",
          "if fence then")),
  WRITE_BACK_IS_NOT_AWAITED(
      "a fencing token is stored, but granted whatever the nodes answer",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "votes.isGranted()\n                    ? acquired",
          "votes.nodes() > 0\n                    ? acquired")),
  COUNTER_IS_NOT_INCREMENTED(
      "a node gives the token that the client proposes, whatever it gave before",
      Profile.FENCES,
      Invariant.FENCING,
      edit("redlock/internal/vote/Scripts", "math.max(last + 1, here", "math.max(here")),
  SMALLEST_OF_THE_VOTES(
      "the fencing token is the smallest of the votes",
      Profile.FENCES,
      Invariant.FENCING,
      edit("redlock/internal/lock/FencingTokens", "long highest = 0;", "long highest = TOO_LARGE;"),
      edit(
          "redlock/internal/lock/FencingTokens",
          "? Math.max(highest, proposed[node])",
          "? Math.min(highest, proposed[node])"),
      edit(
          "redlock/internal/lock/FencingTokens",
          "return storing.size() >= votes.quorum();",
          "return !storing.isEmpty();")),
  LATE_VOTES_COUNT_FOR_THE_TOKEN(
      "the fencing token is the largest that any node gave, also after it was stored",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "acquired(call, votes, OptionalLong.of(fence))",
          "acquired(call, votes, proposal.highest(Tally.before(0,"
              + " NodeSet.NONE).withVotes(connections.all(), Vote.MINE)))")),
  NO_VALIDITY_CHECK_AFTER_THE_SECOND_TRIP(
      "a quorum has stored the fencing token: enough, however late it is",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "? acquired(call, votes, OptionalLong.of(fence))",
          """
          ? CompletableFuture.completedFuture(
                            new RedlockGrant(
                                attempt.name(),
                                key,
                                token,
                                OptionalLong.of(fence),
                                options.validity().until(start, attempt.ttl()),
                                votes,
                                sent))\
          """)),
  COUNTER_EXPIRES_WITH_THE_LOCK(
      "a counter lives as long as the lock",
      Profile.FENCES,
      Invariant.FENCING,
      edit(
          "redlock/internal/vote/Scripts",
          "local life = ARGV[4]\n"
              + "      if code > here then life = life + math.ceil((code - here) / 1000) end",
          "local life = ARGV[2]")),
  CLOCK_FAR_BEHIND_IS_FOLLOWED(
      "a node follows a client's clock, however far behind its own",
      Profile.CLOCKS,
      Invariant.FENCING,
      edit(
          "redlock/internal/vote/Scripts",
          "math.max(last + 1, here - 10000000, math.min(",
          "math.max(last + 1, math.min(")),
  SECOND_TRIP_HAS_ITS_OWN_TIME(
      "storing the fencing token gets a second deadline",
      Profile.FENCES,
      Invariant.CALL_LIMIT,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "present = call;\n    call.start(scheduler, left());",
          "present = call;\n    call.start(scheduler, options.quorumTimeout().toNanos());")),
  NOTIFICATION_IN_MID_ATTEMPT_IS_FORGOTTEN(
      "a release notification during an attempt causes no other attempt",
      Profile.SLOW,
      Invariant.NOTIFIED,
      edit(
          "core/Waiter",
          "} else if (attempting.notifiedDelayNanos() > 0) {",
          "} else if (attempting.notifiedDelayNanos() < 0) {")),
  ALL_NODES_MUST_NOTIFY(
      "a release notification counts only when every node has sent it",
      Profile.CRASHES,
      Invariant.NOTIFIED,
      edit(
          "redlock/internal/notify/ReleaseNotifications",
          "now.size() == Tally.quorumOf(size)",
          "now.size() == size")),
  NEVER_RESUBSCRIBES(
      "a connection with subscriptions is not re-established",
      Profile.CRASHES,
      Invariant.SUBSCRIBED,
      edit(
          "redlock/internal/notify/ReleaseNotifications",
          "scheduler.schedule(NodeConnector.RECONNECT_NANOS, () -> reconnect(node));",
          "")),
  STAYS_SUBSCRIBED(
      "the last waiter leaves its queue, and the subscription stays",
      Profile.BUSY,
      Invariant.UNSUBSCRIBED,
      edit("core/WaitQueues", "own.unsubscribe();", "own.hashCode();")),
  FAILED_HANDOFF_IS_NOT_WOKEN(
      "a waiter whose handoff failed is not woken when the release is answered",
      Profile.CRASHES,
      Invariant.NEXT,
      edit("core/Handoff", "queues.wake(name, consecutiveHandoffs + 1);", "")),
  QUEUE_IS_NOT_WOKEN(
      "a release without a handoff wakes no waiter",
      Profile.BUSY,
      Invariant.NEXT,
      edit("core/Handoff", "queues.wake(name, yields ? 0 : consecutiveHandoffs + 1);", "")),
  BACK_OFF_OUTLASTS_THE_WAIT(
      "a back-off continues when the wait is over",
      Profile.CALM,
      Invariant.CALL_LIMIT,
      edit(
          "core/Waiter",
          "Math.min(wait.left(), context.jitter(maxNanos))",
          "context.jitter(maxNanos)")),
  DRIVER_REPLAYS(
      "the driver sends unanswered commands again when their connection ended",
      Profile.LOSSY,
      Invariant.NO_ORPHANS,
      edit("simulation/Connection", "byNetwork && world.rates.driverReplays", "byNetwork")),
  DRIVER_REORDERS(
      "a command can overtake another on the same connection",
      Profile.SLOW,
      Invariant.NO_ORPHANS,
      edit(
          "simulation/Connection",
          "arrivesUpAfter = Math.max(arrivesUpAfter, Math.max(world.now(), host.pausedUntil()) +"
              + " delay());",
          "arrivesUpAfter = Math.max(world.now(), host.pausedUntil()) + delay();"));

  @SuppressWarnings("ImmutableEnumChecker") // its list is one of List.of
  private final Description description;

  Mutant(String about, Profile profile, Invariant breaks, Edit... edits) {
    this.description = new Description(about, profile, breaks, List.of(edits));
  }

  @Override
  public Description description() {
    return description;
  }
}
