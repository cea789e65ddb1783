package dev.holdfast.core;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * At most one scheduled task at a time, until it is stopped for good. Safe for use by many threads.
 */
final class TimerSlot {
  private static final Scheduler.Task NONE = () -> {};
  private static final Scheduler.Task STOPPED = () -> {};

  private final AtomicReference<Scheduler.Task> current = new AtomicReference<>(NONE);

  boolean isStopped() {
    return current.get() == STOPPED;
  }

  /** Replaces and cancels the task before. Cancels the new task if the slot was stopped. */
  void set(Scheduler.Task task) {
    while (true) {
      Scheduler.Task before = Objects.requireNonNull(current.get());
      if (before == STOPPED) {
        task.cancel();
        return;
      }
      if (current.compareAndSet(before, task)) {
        before.cancel();
        return;
      }
    }
  }

  void stop() {
    Objects.requireNonNull(current.getAndSet(STOPPED)).cancel();
  }
}
