package dev.holdfast.core;

/**
 * Runs tasks later. Safe for use by many threads. Tasks are short and never block, so that one
 * thread serves all leases of a manager.
 */
public interface Scheduler extends AutoCloseable {
  /**
   * Runs a task once, after a delay.
   *
   * @param delayNanos nanoseconds from now; zero or less for as soon as possible
   * @param task never blocks; what it throws is logged
   * @return to take it back
   */
  Task schedule(long delayNanos, Runnable task);

  /** Runs nothing any more. */
  @Override
  void close();

  /**
   * A scheduler with one daemon thread, which starts with the first task.
   *
   * @param threadName the thread's name
   * @return a new scheduler, to be closed by the caller
   */
  static Scheduler create(String threadName) {
    return new TimerThread(threadName);
  }

  /** A task that was scheduled. */
  @FunctionalInterface
  interface Task {
    /** Takes the task back if it has not begun. */
    void cancel();
  }
}
