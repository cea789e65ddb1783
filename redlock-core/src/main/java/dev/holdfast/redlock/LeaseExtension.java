package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Lost;
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
  private final ClockReading end;
  private final QuarantineEnds quarantineEnds;

  LeaseExtension(RedlockContext context, RedlockGrant grant, Duration ttl) {
    this.context = context;
    this.clock = context.clock();
    this.grant = grant;
    this.ttl = ttl;
    this.end = context.options().validity().until(clock.now(), ttl);
    this.quarantineEnds = context.quarantineEnds();
  }

  /** Starts the extension. */
  CompletableFuture<Extension> start() {
    QuorumCall call = context.toAll(command(), this, false);
    grant.extendedBy(call);
    grant.sentTo(call.start(context.scheduler(), context.quorumNanos()));
    return call.decision().thenApply(votes -> counted(call, votes));
  }

  private Command command() {
    return context
        .guard()
        .command(
            Scripts.EXTEND,
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
    grant.onExtensionVote(node, vote, end);
  }

  @Override
  public Command teachingCommand() {
    return context.guard().teaching(Scripts.EXTEND);
  }
}
