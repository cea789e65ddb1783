package dev.holdfast.memory;

import dev.holdfast.LockManager;
import dev.holdfast.core.Scheduler;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a {@link ManualClock}. The thread that moves the clock runs the tasks that become
 * due, each at its own time. A task of a running clock whose time has passed on the machine runs
 * then, and so does a task without delay. No task runs before its time by the clock: the core
 * relies on that. Callbacks, which may block, have threads of their own.
 */
final class ManualTimers implements Scheduler {
  /** Far more than a callback needs to begin on a busy machine. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Logger LOG = System.getLogger(LockManager.class.getName());

  private static final Comparator<Timer> BY_TIME =
      Comparator.comparingLong(Timer::due).thenComparingLong(Timer::number);

  private static final long IDLE_SECONDS = 1;

  private final ManualClock clock;

  /** Runs the tasks of a running clock by the machine's time. Its thread ends when it is idle. */
  private final ScheduledThreadPoolExecutor machine = machine();

  /** Held by the one thread that runs due tasks. */
  private final ReentrantLock stepping = new ReentrantLock();

  private final ThreadLocal<Boolean> isCallback = ThreadLocal.withInitial(() -> false);

  // guarded by this
  private final TreeSet<Timer> timers = new TreeSet<>(BY_TIME);
  private final Set<Runnable> callbacks = new HashSet<>();
  private long count;

  /**
   * A task and its time.
   *
   * @param due when to run it, as {@link ManualClock#nanos()}
   * @param number later ones of the same time run later
   */
  private record Timer(long due, long number, Runnable task) {}

  ManualTimers(ManualClock clock) {
    this.clock = clock;
  }

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    Timer timer = add(Math.max(0, delayNanos), task);
    if (delayNanos > 0 && !clock.isRunning()) {
      return () -> remove(timer);
    }
    Future<?> byMachine =
        machine.schedule(() -> runBy(timer), Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
    return () -> {
      byMachine.cancel(false);
      remove(timer);
    };
  }

  @Override
  public void fork(Runnable task) {
    Runnable callback =
        new Runnable() {
          @Override
          public void run() {
            isCallback.set(true);
            try {
              task.run();
            } finally {
              isCallback.remove();
              onCallbackEnded(this);
            }
          }
        };
    synchronized (this) {
      callbacks.add(callback);
    }
    Thread thread = new Thread(callback, "holdfast-callback");
    thread.setDaemon(true);
    try {
      thread.start();
    } catch (OutOfMemoryError noThread) {
      callback.run(); // no thread is left: late is better than never
    }
  }

  @Override
  public synchronized void close() {
    timers.clear();
  }

  /** Moves the clock ahead, from task to task, as {@link ManualClock#advance}. */
  void advance(long nanos) {
    if (isCallback.get()) {
      throw new IllegalStateException(
          "a callback of a lock manager moved its clock: move it on the thread of the test");
    }
    stepping.lock();
    try {
      long end = clock.nanos() + nanos;
      long deadline = System.nanoTime() + PATIENCE_NANOS;
      awaitCallbacks(deadline);
      runAll(end, deadline);
      clock.moveTo(end);
      runAll(end, deadline); // tasks that other threads scheduled before the clock was moved
    } finally {
      stepping.unlock();
    }
  }

  private void runAll(long end, long deadline) {
    while (runNext(end)) {
      awaitCallbacks(deadline);
    }
  }

  /**
   * Runs a task whose time has passed on the machine, unless it has run. Waits while the clock is
   * moved, so that the thread that moves it finds each task either waiting or finished.
   */
  private void runBy(Timer timer) {
    if (!stepping.tryLock()) {
      machine.schedule(() -> runBy(timer), 1, TimeUnit.MILLISECONDS);
      return;
    }
    try {
      if (remove(timer)) {
        timer.task().run();
      }
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a timer's task failed", e);
    } finally {
      stepping.unlock();
    }
  }

  /** Runs the first task that is due by this time, at its own time. Returns false without one. */
  private boolean runNext(long end) {
    Timer next = poll(end);
    if (next == null) {
      return false;
    }
    clock.moveTo(next.due());
    next.task().run();
    return true;
  }

  private synchronized Timer add(long delayNanos, Runnable task) {
    long now = clock.nanos();
    Timer timer = new Timer(now + Math.min(delayNanos, Long.MAX_VALUE - now), count++, task);
    timers.add(timer);
    return timer;
  }

  private synchronized boolean remove(Timer timer) {
    return timers.remove(timer);
  }

  private synchronized @Nullable Timer poll(long end) {
    return timers.isEmpty() || timers.first().due() > end ? null : timers.pollFirst();
  }

  private synchronized void onCallbackEnded(Runnable callback) {
    callbacks.remove(callback);
    notifyAll();
  }

  /** Waits until all callbacks have ended. A callback that blocks is not waited for again. */
  private synchronized void awaitCallbacks(long deadline) {
    try {
      while (!callbacks.isEmpty()) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          callbacks.clear();
          return;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static ScheduledThreadPoolExecutor machine() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "holdfast-manual-timer");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
