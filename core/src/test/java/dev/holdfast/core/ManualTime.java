package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Time that stands still until a test moves it. Tasks that are due then run in their order, on the
 * test's thread, each at its own time.
 */
final class ManualTime implements Clock, Scheduler {
  private final TreeSet<Timer> timers =
      new TreeSet<>(Comparator.comparingLong(Timer::due).thenComparingLong(Timer::number));
  private long nanos = 1_000_000_007L;
  private long wallNanos = 1_700_000_000_000_000_000L;
  private long scheduled;
  private volatile boolean forksAtOnce;
  private volatile @Nullable Queue<Runnable> heldForks;

  private record Timer(long due, long number, Runnable task) {}

  @Override
  public synchronized long nanos() {
    return nanos;
  }

  @Override
  public synchronized long wallMicros() {
    return wallNanos / 1000;
  }

  @Override
  public synchronized Task schedule(long delayNanos, Runnable task) {
    Timer timer = new Timer(nanos + Math.max(0, delayNanos), scheduled++, task);
    timers.add(timer);
    return () -> cancel(timer);
  }

  /** From now on, what would run on a thread of its own runs on the test's thread instead. */
  void forkAtOnce() {
    forksAtOnce = true;
  }

  /** From now on, what would run on a thread of its own waits for {@link #runForks}. */
  void holdForks() {
    heldForks = new ConcurrentLinkedQueue<>();
  }

  /** Runs what {@link #holdForks} has kept. */
  void runForks() {
    Queue<Runnable> tasks = Objects.requireNonNull(heldForks);
    heldForks = null;
    tasks.forEach(Runnable::run);
  }

  @Override
  public void fork(Runnable task) {
    Queue<Runnable> held = heldForks;
    if (held != null) {
      held.add(task);
    } else if (forksAtOnce) {
      task.run();
    } else {
      Scheduler.super.fork(task);
    }
  }

  @Override
  public synchronized void close() {
    timers.clear();
  }

  /** Time passes, and what is due runs. */
  void advance(Duration time) {
    long end = nanos() + time.toNanos();
    for (Timer timer = next(end); timer != null; timer = next(end)) {
      timer.task().run();
    }
    moveTo(end);
  }

  /** Time passes, but no thread gets to run. */
  void passUnnoticed(Duration time) {
    moveTo(nanos() + time.toNanos());
  }

  /** The wall clock alone moves: it is set, or the machine slept. */
  synchronized void moveWall(Duration time) {
    wallNanos += time.toNanos();
  }

  /** How long it is until each task is due. */
  synchronized List<Duration> pending() {
    return timers.stream().map(timer -> Duration.ofNanos(timer.due() - nanos)).toList();
  }

  /** Fails if any timer is left but the watch for sleeps, which ends when it finds no lease. */
  void assertIdle() {
    assertThat(pending()).as("the watch for sleeps alone").hasSizeLessThanOrEqualTo(1);
    advance(Duration.ofMillis(500));
    assertThat(pending()).isEmpty();
  }

  private synchronized @Nullable Timer next(long end) {
    if (timers.isEmpty() || timers.first().due() > end) {
      return null;
    }
    Timer first = timers.first();
    timers.remove(first);
    moveTo(Math.max(nanos, first.due()));
    return first;
  }

  private synchronized void moveTo(long to) {
    wallNanos += to - nanos;
    nanos = to;
  }

  private synchronized void cancel(Timer timer) {
    timers.remove(timer);
  }
}
