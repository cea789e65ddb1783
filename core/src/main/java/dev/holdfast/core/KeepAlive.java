package dev.holdfast.core;

import dev.holdfast.Lease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Reference;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Renews one lock when a third of its ttl has passed since the attempt or renewal before it began,
 * and sooner after a renewal that failed. So slow nodes do not use up the ttl. Stops when the lock
 * ends, and when nobody can reach its lease any more: whoever forgot it cannot release it.
 */
final class KeepAlive {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  /** Two more chances when a renewal is lost; the Redlock page leaves the number to us. */
  private static final int RENEWALS_PER_TTL = 3;

  private final Surroundings surroundings;
  private final HeldLock lock;
  private final Duration ttl;
  private final Reference<?> lease;
  private volatile boolean stopped;
  private volatile Scheduler.@Nullable Task next;

  KeepAlive(Surroundings surroundings, HeldLock lock, Duration ttl, Reference<?> lease) {
    this.surroundings = surroundings;
    this.lock = lock;
    this.ttl = ttl;
    this.lease = lease;
  }

  /**
   * Begins.
   *
   * @param begunAt when the attempt began that got the lock, by the clock's nanoseconds
   */
  void start(long begunAt) {
    renewAfter(begunAt);
  }

  void stop() {
    stopped = true;
    Scheduler.Task task = next;
    if (task != null) {
      task.cancel();
    }
  }

  /** A third of the ttl after the beginning of what came before; at once if that is past. */
  private void renewAfter(long begunAt) {
    renewIn(Math.max(0, interval() - (surroundings.clock().nanos() - begunAt)));
  }

  private void renewIn(long delayNanos) {
    if (!stopped) {
      next = surroundings.scheduler().schedule(delayNanos, this::renew);
    }
  }

  private void renew() {
    if (stopped) {
      return;
    }
    if (lease.get() == null) {
      LOG.log(
          Level.WARNING,
          "the lease on ''{0}'' was dropped without a release: it is no longer renewed, and the"
              + " lock stays taken until it expires",
          lock.grant().name());
      return;
    }
    long begunAt = surroundings.clock().nanos();
    lock.extend(ttl)
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                renewIn(Math.min(interval(), surroundings.jitter(surroundings.retryDelayNanos())));
              } else if (!lock.atLimit()) {
                renewAfter(begunAt);
              }
            });
  }

  private long interval() {
    return Nanos.of(ttl) / RENEWALS_PER_TTL;
  }
}
