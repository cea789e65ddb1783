package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Time that stands still until a test moves it. Tasks that come due run on the test's thread. */
public final class ManualTime implements Clock, Scheduler {
  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(Comparator.comparingLong(Timer::at).thenComparingLong(Timer::number));
  private long nanos = 1_000_000_000L;
  private long wallMicros = 1_700_000_000_000_000L;
  private long number;

  private record Timer(long at, long number, Runnable task) {}

  /** Returns the default options by this time, with callbacks on the test's thread. */
  public RedlockOptions options() {
    return RedlockOptions.defaults().clock(this).scheduler(this).callbacks(Runnable::run);
  }

  /** Returns the same without fencing tokens and restart guard. */
  public RedlockOptions plainOptions() {
    return options().restartGuard(false).fencing(false);
  }

  @Override
  public long nanos() {
    return nanos;
  }

  @Override
  public long wallMicros() {
    return wallMicros;
  }

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    Timer timer = new Timer(nanos + Math.max(0, delayNanos), number++, task);
    timers.add(timer);
    return () -> timers.remove(timer);
  }

  @Override
  public void fork(Runnable task) {
    task.run();
  }

  @Override
  public void close() {
    timers.clear();
  }

  public void advance(Duration by) {
    long end = nanos + by.toNanos();
    while (!timers.isEmpty() && timers.peek().at() <= end) {
      Timer next = timers.remove();
      move(Math.max(0, next.at() - nanos));
      next.task().run();
    }
    move(end - nanos);
  }

  /** This process stands still: tasks that come due meanwhile run late, at the next advance. */
  public void leap(Duration by) {
    move(by.toNanos());
  }

  /** The machine sleeps: its monotonic clock stands still, its wall clock does not. */
  public void sleepMachine(Duration by) {
    wallMicros += by.toNanos() / 1000;
  }

  int pendingTimers() {
    return timers.size();
  }

  private void move(long by) {
    nanos += by;
    wallMicros += by / 1000;
  }
}
