package dev.holdfast.core;

import dev.holdfast.Lease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;

/**
 * Renews one lease when a third of its ttl has passed since the attempt or renewal before it began,
 * and sooner after a renewal that failed. So slow nodes do not use up the ttl. Stops when the lease
 * ends, and when the user's lease is no longer reachable: an unreachable lease cannot be released.
 */
final class KeepAlive {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  /** Leaves two more chances when a renewal is lost. The Redlock page leaves the number open. */
  private static final int RENEWALS_PER_TTL = 3;

  private final ManagerContext context;
  private final LeaseState state;
  private final Duration ttl;
  private final LeaseReport report;
  private final TimerSlot next = new TimerSlot();

  KeepAlive(ManagerContext context, LeaseState state, Duration ttl, LeaseReport report) {
    this.context = context;
    this.state = state;
    this.ttl = ttl;
    this.report = report;
  }

  /**
   * Schedules the first renewal.
   *
   * @param lease the lease of the user, to which only a weak reference is kept
   * @param attemptedAt when the attempt began that got the lock, by the clock's nanoseconds
   */
  void start(DefaultLease lease, long attemptedAt) {
    renewAfter(attemptedAt, new WeakReference<>(lease));
  }

  void stop() {
    next.stop();
  }

  /** Renews a third of the ttl after the beginning of the last call, or at once if that is past. */
  private void renewAfter(long begunAt, Reference<?> lease) {
    renewIn(Math.max(0, interval() - (context.clock().nanos() - begunAt)), lease);
  }

  private void renewIn(long delayNanos, Reference<?> lease) {
    if (!next.isStopped()) {
      next.set(context.scheduler().schedule(delayNanos, () -> renew(lease)));
    }
  }

  private void renew(Reference<?> lease) {
    if (next.isStopped()) {
      return;
    }
    if (lease.get() == null) {
      LOG.log(
          Level.WARNING,
          "the lease on ''{0}'' was dropped without a release: it is no longer renewed, and the"
              + " lock stays taken until it expires",
          state.grant().name());
      return;
    }
    long begunAt = context.clock().nanos();
    report.renewalBegun();
    state
        .extend(ttl)
        .whenComplete(
            (done, failure) -> {
              report.renewalEnded(failure, state.current() instanceof GrantState.Held);
              if (failure != null) {
                long delay = Math.min(interval(), context.jitter(context.retryDelayNanos()));
                renewIn(delay, lease);
              } else if (!state.isAtLimit()) {
                renewAfter(begunAt, lease);
              }
            });
  }

  private long interval() {
    return Nanos.of(ttl) / RENEWALS_PER_TTL;
  }
}
