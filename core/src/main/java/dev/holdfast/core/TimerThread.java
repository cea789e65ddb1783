package dev.holdfast.core;

import dev.holdfast.LockManager;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A daemon thread that runs tasks later. Most tasks are deadlines that are cancelled before they
 * run. A task that is not due soon is therefore only queued, and a sweep schedules the tasks that
 * survive. Otherwise each cancelled task would wake the thread for nothing.
 */
final class TimerThread {
  private static final Logger LOG = System.getLogger(LockManager.class.getName());

  /** Longer than most operations take, and shorter than most limits. */
  private static final long SWEEP_NANOS = 10_000_000;

  private static final Scheduler.Task NOTHING = () -> {};

  private final ScheduledThreadPoolExecutor executor;
  private final Queue<Timer> young = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sweeping = new AtomicBoolean();

  TimerThread(String name) {
    executor = new ScheduledThreadPoolExecutor(1, task -> CallbackThreads.daemon(task, name));
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    CallbackThreads.prestart(executor);
  }

  Scheduler.Task schedule(long delayNanos, Runnable task) {
    if (executor.isShutdown()) {
      return NOTHING;
    }
    Timer timer = new Timer(task, System.nanoTime() + delayNanos);
    try {
      if (delayNanos < 2 * SWEEP_NANOS) {
        timer.start();
      } else {
        young.add(timer);
        sweepLater();
      }
      return timer;
    } catch (RejectedExecutionException closed) {
      return NOTHING;
    }
  }

  void close() {
    executor.shutdown();
    young.clear();
  }

  private void sweepLater() {
    if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
      boolean begun = false;
      try {
        executor.schedule(this::sweep, SWEEP_NANOS, TimeUnit.NANOSECONDS);
        begun = true;
      } finally {
        if (!begun) {
          sweeping.set(false); // without memory, say: the next timer tries again
        }
      }
    }
  }

  private void sweep() {
    sweeping.set(false); // first, so that what comes from now on is seen by this sweep or the next
    try {
      for (Timer timer = young.poll(); timer != null; timer = young.poll()) {
        timer.start();
      }
    } catch (RejectedExecutionException closed) {
      young.clear();
    }
  }

  /** One task. Any thread may cancel it, at any time. */
  private final class Timer implements Scheduler.Task, Callable<@Nullable Void> {
    private final Runnable task;
    private final long due;
    private volatile boolean cancelled;
    private volatile @Nullable Future<?> future;

    Timer(Runnable task, long due) {
      this.task = task;
      this.due = due;
    }

    void start() {
      if (!cancelled) {
        long left = Math.max(0, due - System.nanoTime());
        future = executor.schedule(this, left, TimeUnit.NANOSECONDS);
        if (cancelled) {
          cancel();
        }
      }
    }

    @Override
    public void cancel() {
      cancelled = true;
      Future<?> started = future;
      if (started != null) {
        started.cancel(false);
      }
    }

    @Override
    public @Nullable Void call() {
      try {
        if (!cancelled) {
          task.run();
        }
      } catch (RuntimeException | Error e) {
        LOG.log(Level.ERROR, "a timer's task failed", e);
      }
      return null;
    }
  }
}
