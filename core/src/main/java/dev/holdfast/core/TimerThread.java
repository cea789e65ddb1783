package dev.holdfast.core;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The scheduler of real managers: a daemon thread for work, and one that watches the time. */
final class TimerThread implements Scheduler {
  private static final Logger LOG = System.getLogger(TimerThread.class.getName());
  private static final Task NOTHING = () -> {};

  private final ScheduledThreadPoolExecutor work;
  private final ScheduledThreadPoolExecutor watches;

  TimerThread(String name) {
    work = thread(name);
    watches = thread(name + "-watch");
  }

  private static ScheduledThreadPoolExecutor thread(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    return schedule(work, delayNanos, task);
  }

  @Override
  public Task watch(long delayNanos, Runnable task) {
    return schedule(watches, delayNanos, task);
  }

  private static Task schedule(
      ScheduledThreadPoolExecutor executor, long delayNanos, Runnable task) {
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
    work.shutdown();
    watches.shutdown();
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a timer's task failed", e);
    }
  }
}
