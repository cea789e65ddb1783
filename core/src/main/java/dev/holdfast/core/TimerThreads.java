package dev.holdfast.core;

/** The scheduler of real managers: one thread for work, and one that watches the time. */
final class TimerThreads implements Scheduler {
  private final TimerThread work;
  private final TimerThread watches;

  TimerThreads(String name) {
    work = new TimerThread(name);
    watches = new TimerThread(name + "-watch");
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
  public void close() {
    work.close();
    watches.close();
  }
}
