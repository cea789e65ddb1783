package dev.holdfast.core;

/**
 * Runs tasks later. Safe for use by many threads. Tasks are short and never block, so that one
 * thread serves all leases of a manager.
 */
public interface Scheduler extends AutoCloseable {
  /**
   * Runs a task once, after a delay.
   *
   * @param delayNanos nanoseconds from now, zero or less for as soon as possible
   * @param task never blocks. Its exceptions are logged
   * @return the scheduled task, which can be cancelled
   */
  Task schedule(long delayNanos, Runnable task);

  /**
   * Runs a task once, after a delay, though tasks of {@link #schedule} may hold up one another: a
   * backend that blocks against its contract must not delay the report of a loss to a holder.
   *
   * @param delayNanos as for {@link #schedule}
   * @param task looks at the clock and passes the result on, without a call of the backend
   * @return the scheduled task, which can be cancelled
   */
  default Task watch(long delayNanos, Runnable task) {
    return schedule(delayNanos, task);
  }

  /**
   * Runs a task at once on a thread that nothing else waits for: the task may block. Never throws.
   *
   * @param task runs exactly once, also after {@link #close}
   */
  default void fork(Runnable task) {
    try {
      CallbackThreads.thread(task).start();
    } catch (OutOfMemoryError noThread) { // none can be started
      schedule(0, task);
    }
  }

  /** Runs nothing any more at a later time. */
  @Override
  void close();

  /**
   * Starts a scheduler with three daemon threads: one for {@link #schedule}, one for {@link
   * #watch}, and one for {@link #fork} when no other thread can be started.
   *
   * @param threadName the name of the first one. That of the second has "-watch" behind it
   * @return a new scheduler, to be closed by the caller
   * @throws dev.holdfast.LockConfigurationException if no thread can be started
   */
  static Scheduler create(String threadName) {
    return new TimerThreads(threadName);
  }

  /** A task that was scheduled. */
  @FunctionalInterface
  interface Task {
    /** Cancels the task if it has not begun. */
    void cancel();
  }
}
