package dev.holdfast.core;

import dev.holdfast.LockManager;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Limits the backend calls of one manager to {@value #MAX_IN_FLIGHT} at a time. Further calls wait
 * in two queues: calls of holders (releases and extensions) come before attempts. The limit is
 * approximate: concurrent callers may exceed it by one each.
 */
final class ConcurrencyLimiter {
  /**
   * More calls at a time make nothing faster and each of them slower: by docs/performance.md a
   * hundred calls keep two processors busy, and few networks need more to be filled.
   */
  static final int MAX_IN_FLIGHT = 256;

  private static final Logger LOG = System.getLogger(LockManager.class.getName());

  private final Scheduler scheduler;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final Queue<Runnable> holders = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> attempts = new ConcurrentLinkedQueue<>();
  private final AtomicInteger drains = new AtomicInteger();
  private final LoadEvents load;

  ConcurrencyLimiter(Scheduler scheduler, Listeners listeners) {
    this.scheduler = scheduler;
    this.load = new LoadEvents(listeners, inFlight::get);
  }

  /** Returns the reports of how many calls there are. */
  LoadEvents load() {
    return load;
  }

  /** Counts a backend call, also beyond the limit. */
  void acquirePermit() {
    inFlight.incrementAndGet();
    load.onChanged();
  }

  /** Ends a backend call, and begins queued calls for which there is a permit now. */
  void releasePermit() {
    inFlight.decrementAndGet();
    load.onChanged();
    if (!holders.isEmpty() || !attempts.isEmpty()) {
      drain();
    }
  }

  /** Returns whether a holder's call may begin now. It never overtakes a queued one. */
  boolean hasPermit() {
    return isBelowLimit() && holders.isEmpty();
  }

  /** Returns whether an attempt may begin now. It never overtakes a queued call of any kind. */
  boolean hasPermitForAttempt() {
    return hasPermit() && attempts.isEmpty();
  }

  /** Queues a holder's call until there is a permit, first in, first out. */
  void enqueue(Runnable call) {
    enqueue(holders, call);
  }

  /** Queues an attempt until there is a permit and no holder's call is queued. */
  void enqueueAttempt(Runnable attempt) {
    enqueue(attempts, attempt);
  }

  /** Drains on a thread of ours, because the caller must not begin calls of others. */
  private void enqueue(Queue<Runnable> queue, Runnable call) {
    queue.add(call);
    if (isBelowLimit()) {
      scheduler.schedule(0, this::drain);
    }
  }

  /** Starts queued calls, on one thread at a time, in a loop, so that the stack stays flat. */
  private void drain() {
    if (drains.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = drains.get();
      @Nullable Runnable next;
      while (isBelowLimit() && (next = poll()) != null) {
        begin(next);
      }
    } while (drains.addAndGet(-seen) > 0);
  }

  private static void begin(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      report(e);
    }
  }

  /** Drops what the user's logger throws: {@link #drain} would never run again. */
  private static void report(Throwable failure) {
    try {
      LOG.log(Level.ERROR, "an operation could not begin", failure);
    } catch (RuntimeException | Error ignored) {
      // the logger is broken, and there is no other place to report to
    }
  }

  private boolean isBelowLimit() {
    return inFlight.get() < MAX_IN_FLIGHT;
  }

  private @Nullable Runnable poll() {
    Runnable first = holders.poll();
    return first != null ? first : attempts.poll();
  }
}
