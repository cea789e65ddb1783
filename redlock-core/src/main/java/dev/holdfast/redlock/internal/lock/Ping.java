package dev.holdfast.redlock.internal.lock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.redlock.internal.guard.NodeGuardState;
import dev.holdfast.redlock.internal.nodes.NodeHealth;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.Command;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One question to all nodes: whether they answer and may vote. A node whose quarantine can end with
 * the next attempt counts. Stragglers are waited for, so that the states of all nodes are known
 * afterwards. Changes no lock.
 */
final class Ping implements VotePolicy {
  private final RedlockContext context;
  private final String key;

  /** Set if some node votes now. */
  private volatile boolean hasVoter;

  Ping(RedlockContext context, String key) {
    this.context = context;
    this.key = key;
  }

  /** Starts the question. The future completes with whether a quorum answers and may vote. */
  CompletableFuture<Boolean> start() {
    QuorumCall call = context.toAll(command(), this);
    call.start(context.scheduler(), context.quorumNanos());
    return call.decision().thenApply(votes -> canGrant(votes) || isPassing(call, votes));
  }

  /**
   * Tells whether a lock could be had. If no node votes, quarantines end only once all nodes have
   * answered.
   */
  private boolean canGrant(Tally votes) {
    return votes.isGranted() && (hasVoter || votes.answered() == votes.nodes());
  }

  private Command command() {
    return context.guard().isOn()
        ? NodeGuardState.command(context.guard(), NodeGuardState.NONE)
        : new Command.Eval(Scripts.INSPECT, false, List.of(key), List.of());
  }

  /** Returns false for a failure that may pass, and throws one that a person must correct. */
  private boolean isPassing(QuorumCall call, Tally votes) {
    LockException failure =
        context.failures().noQuorum("no quorum answered a ping", call, votes, false);
    if (failure instanceof LockConfigurationException) {
      throw failure;
    }
    return false;
  }

  @Override
  public @Nullable Vote read(int node, @Nullable Object reply) {
    if (!context.guard().isOn()) {
      hasVoter = true;
      return reply instanceof List<?> ? Vote.MINE : null;
    }
    NodeGuardState state = NodeGuardState.in(reply);
    if (state == null) {
      return null;
    }
    NodeHealth health = context.connections().health();
    if (state.votes()) {
      hasVoter = true;
      health.onVoted(node);
    } else {
      String cause = Quarantine.cause(state.isNew());
      health.onQuarantine(node, state.begun(), cause, state.age(), state.left());
    }
    return state.votes() || state.left().isZero() ? Vote.MINE : Vote.OTHER;
  }

  @Override
  public boolean isDecided(Tally tally) {
    return tally.isComplete();
  }
}
