package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.guard.QuarantineEnds;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.spi.Command;

/** The parts of one manager that attempts and extensions share. */
record RedlockContext(
    AlgorithmOptions options,
    Scheduler scheduler,
    GuardTerms guard,
    NodeConnections connections,
    FencingTokens fencingTokens,
    ReleaseRounds releases,
    QuorumFailures failures) {
  Clock clock() {
    return options.clock();
  }

  /** Returns how long a quorum of answers is waited for. */
  long quorumNanos() {
    return options.quorumTimeout().toNanos();
  }

  QuarantineEnds quarantineEnds() {
    return new QuarantineEnds(connections, guard, scheduler);
  }

  /** Makes a round for all nodes. */
  QuorumCall toAll(Command command, VotePolicy policy) {
    return new QuorumCall(connections, command, connections.all(), policy);
  }
}
