package dev.holdfast.core;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The scheduler of real managers: one daemon thread. */
final class TimerThread implements Scheduler {
  private static final Logger LOG = System.getLogger(TimerThread.class.getName());
  private static final Task NOTHING = () -> {};

  private final ScheduledThreadPoolExecutor executor;

  TimerThread(String name) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    try {
      Future<?> future =
          executor.schedule(() -> run(task), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    } catch (RejectedExecutionException closed) {
      return NOTHING;
    }
  }

  @Override
  public void close() {
    executor.shutdown();
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a timer's task failed", e);
    }
  }
}
