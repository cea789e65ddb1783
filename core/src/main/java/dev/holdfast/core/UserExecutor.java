package dev.holdfast.core;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An executor of a user's, which may throw, block, or run a task inside its own {@code execute}: it
 * is called on a thread that nothing else waits for, and a task that it refuses runs there.
 */
record UserExecutor(Executor executor, Scheduler scheduler) implements Executor {
  /** Runs a task on the user's executor. Never throws. */
  @Override
  public void execute(Runnable task) {
    Once once = new Once(task, new AtomicBoolean());
    scheduler.fork(() -> offer(once));
  }

  private void offer(Once once) {
    try {
      executor.execute(once);
    } catch (Throwable refused) { // also checked exceptions, which not every language declares
      once.run();
    }
  }

  /** A task that an executor may have taken although it threw. */
  private record Once(Runnable task, AtomicBoolean begun) implements Runnable {
    @Override
    public void run() {
      if (begun.compareAndSet(false, true)) {
        task.run();
      }
    }
  }
}
