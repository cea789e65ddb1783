package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import java.util.concurrent.ThreadFactory;

/**
 * The scheduler of real managers: one thread for work, one that watches the time, and threads for
 * tasks that may block.
 */
final class TimerThreads implements Scheduler {
  private final TimerThread work;
  private final TimerThread watches;
  private final CallbackThreads forks;

  TimerThreads(String name) {
    this(name, CallbackThreads::thread);
  }

  /**
   * Starts its threads.
   *
   * @param forkFactory makes threads for tasks that may block
   * @throws LockConfigurationException if no thread can be started
   */
  TimerThreads(String name, ThreadFactory forkFactory) {
    work = new TimerThread(name);
    try {
      watches = new TimerThread(name + "-watch");
    } catch (LockConfigurationException e) {
      work.close();
      throw e;
    }
    try {
      forks = new CallbackThreads(forkFactory);
    } catch (LockConfigurationException e) {
      work.close();
      watches.close();
      throw e;
    }
  }

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    return work.schedule(delayNanos, task);
  }

  @Override
  public Task watch(long delayNanos, Runnable task) {
    return watches.schedule(delayNanos, task);
  }

  @Override
  public void fork(Runnable task) {
    forks.run(task);
  }

  @Override
  public void close() {
    work.close();
    watches.close();
    forks.close();
  }
}
