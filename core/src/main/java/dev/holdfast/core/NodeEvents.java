package dev.holdfast.core;

import dev.holdfast.LockListener;
import dev.holdfast.LockNode;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The votes and changes of nodes, reported to listeners in their order, by one thread at a time for
 * which nothing else waits. A backend counts votes under its own locks and between the steps of a
 * round, where no listener may run: so it only queues them here (docs/adr/0021-listeners.md).
 */
final class NodeEvents implements NodeObserver {
  /** The time for which events are gathered: at most a hundred calls a second under any load. */
  private static final long GATHER_NANOS = 10_000_000;

  /** The interval of warnings: one a minute names the trouble, more would hide it. */
  private static final long PERIOD_NANOS = 60_000_000_000L;

  /** Maximum number of votes that wait for a listener. Further votes are dropped and counted. */
  private static final int MAX_WAITING = 10_000;

  private final Listeners listeners;
  private final Scheduler scheduler;
  private final Queue<Consumer<LockListener>> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicBoolean isGathering = new AtomicBoolean();
  private final AtomicInteger reporters = new AtomicInteger();
  private final AtomicInteger dropped = new AtomicInteger();
  private final WarningPace droppedVotes;

  NodeEvents(Listeners listeners, Scheduler scheduler) {
    this.listeners = listeners;
    this.scheduler = scheduler;
    this.droppedVotes =
        new WarningPace(
            scheduler,
            PERIOD_NANOS,
            () -> dropped.get() > 0,
            () -> scheduler.schedule(GATHER_NANOS, () -> scheduler.fork(this::warnOfDropped)));
  }

  @Override
  public boolean isActive() {
    return !listeners.isEmpty();
  }

  @Override
  public void onVote(String node, LockListener.Vote vote) {
    if (!isActive()) {
      return;
    }
    if (waiting.get() < MAX_WAITING) {
      add(listener -> listener.onVote(node, vote));
    } else {
      onDropped();
    }
  }

  /** Warns on a thread of its own, because the thread that reports may be the one that is stuck. */
  private void onDropped() {
    dropped.incrementAndGet();
    try {
      droppedVotes.onCounted();
    } catch (RuntimeException | Error ignored) {
      // the next vote tries again
    }
  }

  /** Logs how many votes were dropped since the last warning, if any. */
  void warnOfDropped() {
    int number = dropped.getAndSet(0);
    if (number == 0) {
      return;
    }
    Listeners.warn(
        number
            + " votes of nodes were dropped, because "
            + MAX_WAITING
            + " reports wait for a LockListener that takes too long: return at once, and work on"
            + " another thread",
        null);
  }

  @Override
  public void onNode(String node, LockNode.State state, String cause) {
    if (isActive()) {
      add(listener -> listener.onNode(node, state, cause));
    }
  }

  private void add(Consumer<LockListener> event) {
    waiting.incrementAndGet();
    events.add(event);
    if (!isGathering.get() && isGathering.compareAndSet(false, true)) {
      reportLater();
    }
  }

  /** Throws nothing: a backend's round must not fail because of a listener. */
  private void reportLater() {
    try {
      scheduler.schedule(GATHER_NANOS, () -> scheduler.fork(this::report));
    } catch (RuntimeException | Error e) {
      isGathering.set(false); // the next event tries again
    }
  }

  /** Returns whether no event waits for a report. */
  boolean isEmpty() {
    return events.isEmpty();
  }

  /** Reports the gathered events. */
  void report() {
    isGathering.set(false); // first, so that what comes from now on is seen by this call or a later
    if (reporters.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = reporters.get();
      Consumer<LockListener> next = events.poll();
      while (next != null) {
        waiting.decrementAndGet();
        listeners.report(next);
        next = events.poll();
      }
    } while (reporters.addAndGet(-seen) > 0);
  }
}
