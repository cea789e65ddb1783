package dev.holdfast.memory;

import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs a task only when a test says so. Belongs to one thread. */
final class RecordingScheduler implements Scheduler {
  private final List<Timer> timers = new ArrayList<>();

  private record Timer(Duration delay, Runnable task) {}

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    Timer timer = new Timer(Duration.ofNanos(delayNanos), task);
    timers.add(timer);
    return () -> timers.remove(timer);
  }

  /** Not recorded: the ends of leases, and what else is only looked at. */
  @Override
  public Task watch(long delayNanos, Runnable task) {
    return () -> {};
  }

  @Override
  public void fork(Runnable task) {
    task.run();
  }

  @Override
  public void close() {
    timers.clear();
  }

  /** The delays of all tasks that did not run yet, as they were asked for. */
  List<Duration> delays() {
    return timers.stream().map(Timer::delay).toList();
  }

  /** Runs the task that was asked for with the shortest delay. */
  void runSoonest() {
    Timer soonest = timers.get(0);
    for (Timer timer : timers) {
      soonest = timer.delay().compareTo(soonest.delay()) < 0 ? timer : soonest;
    }
    timers.remove(soonest);
    soonest.task().run();
  }
}
