package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.redlock.internal.Millis;
import dev.holdfast.redlock.internal.guard.QuarantineEnds;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One extension of a lease: its round, and the policy by which the votes count. */
final class LeaseExtension implements VotePolicy {
  private final RedlockContext context;
  private final Clock clock;
  private final RedlockGrant grant;
  private final Duration ttl;
  private final boolean putsBack;
  private final ClockReading end;
  private final QuarantineEnds quarantineEnds;

  /**
   * Sends nothing yet.
   *
   * @param putsBack whether missing keys are put back
   */
  LeaseExtension(RedlockContext context, RedlockGrant grant, Duration ttl, boolean putsBack) {
    this.context = context;
    this.clock = context.clock();
    this.grant = grant;
    this.ttl = ttl;
    this.putsBack = putsBack;
    this.end = context.options().validity().until(clock.now(), ttl);
    this.quarantineEnds = context.quarantineEnds();
  }

  /** Starts the extension. */
  CompletableFuture<Extension> start() {
    QuorumCall call = context.toAll(command(), this);
    grant.extendedBy(call);
    grant.sentTo(call.start(context.scheduler(), context.quorumNanos()));
    return call.decision().thenApply(votes -> counted(call, votes));
  }

  private Command command() {
    return context
        .guard()
        .command(
            putsBack ? Scripts.EXTEND : Scripts.PROLONG,
            List.of(grant.key()),
            List.of(grant.token(), Long.toString(Millis.of(ttl))));
  }

  private Extension counted(QuorumCall call, Tally votes) {
    NodeSet due = quarantineEnds.due(call, votes, context.quorumNanos());
    if (!due.isEmpty()) {
      quarantineEnds.end(due, context.quorumNanos());
    }
    if (votes.isGranted()) {
      return new Extended(end);
    }
    if (votes.isDenied()) {
      return new Lost(votes.lossReason());
    }
    throw context
        .failures()
        .noQuorum("no quorum extended the lease on '" + grant.name() + "'", call, votes, true);
  }

  @Override
  public @Nullable Vote read(int node, @Nullable Object reply) {
    return Scripts.compared(node, reply);
  }

  @Override
  public boolean isObserved() {
    return true;
  }

  @Override
  public boolean isDecided(Tally tally) {
    return tally.isExtensionDecided();
  }

  @Override
  public boolean trustsQuarantined(int node) {
    return grant.isSure(node, clock.now());
  }

  @Override
  public void onQuarantine(int node, Quarantine quarantine) {
    quarantineEnds.onQuarantine(node, quarantine);
  }

  @Override
  public void onVote(int node, Vote vote) {
    boolean isLeftMissing = vote == Vote.MISSING && !putsBack;
    grant.onExtensionVote(node, isLeftMissing ? Vote.OTHER : vote, end);
  }

  @Override
  public @Nullable Command teachingCommand() {
    return !putsBack ? null : context.guard().teaching(Scripts.EXTEND);
  }
}
