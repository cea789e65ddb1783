package dev.holdfast.simulation;

import dev.holdfast.LockManager;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import java.time.Duration;
import java.util.SplittableRandom;

/** A client's process with its one manager. It can stand still, sleep with its machine, and die. */
final class Host implements Scheduler {
  /** Timers come late now and then, and after a pause in any order with what came meanwhile. */
  private static final long LATEST = 3_000;

  final HostClock clock;
  final Driver driver;
  final LockManager manager;
  final int longestTtlMillis;
  final boolean isStranger;
  private final Workload workload;
  private final World world;
  private final int id;
  private boolean alive = true;
  private long pausedUntil;
  private long pausedInAll;
  private long calledBackAt;

  Host(World world, int id) {
    this.world = world;
    this.id = id;
    this.isStranger = world.rates.stranger && id == 0;
    this.longestTtlMillis = world.longestTtlMillis(isStranger);
    this.clock = new HostClock(world);
    this.driver = new Driver(world, this);
    SplittableRandom random = world.random.split();
    this.manager =
        Redlock.open(
            driver,
            RedlockOptions.defaults()
                .restartGuard(world.setting.guard())
                .connectLazily()
                .fencing(world.setting.fencing())
                .nodeTimeout(Duration.ofMillis(world.setting.nodeTimeoutMillis()))
                .quorumTimeout(Duration.ofMillis(world.setting.quorumTimeoutMillis()))
                .retryDelay(Duration.ofMillis(world.setting.retryDelayMillis()))
                .maxTtl(Duration.ofMillis(longestTtlMillis))
                .ownerLabel("c" + id)
                .clock(clock)
                .scheduler(this)
                .random(random)
                .callbacks(this::callback));
    this.workload = new Workload(world, this);
  }

  Workload workload() {
    return workload;
  }

  int id() {
    return id;
  }

  boolean isAlive() {
    return alive;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  boolean isPaused() {
    return pausedUntil > world.now();
  }

  /** Returns the time that this process has run by now, or will have run when its pause ends. */
  long ranFor() {
    return Math.max(world.now(), pausedUntil) - pausedInAll;
  }

  private void callback(Runnable task) {
    long planned = world.now();
    world.at(
        planned,
        this,
        () -> {
          calledBackAt = planned;
          task.run();
        });
  }

  /**
   * Returns whether the current callback runs at the time it was planned for, without a pause in
   * between.
   */
  boolean isCalledBackAtOnce() {
    return calledBackAt == world.now();
  }

  void run(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | AssertionError e) {
      world.judge.surprise(id, e);
    }
  }

  /** Stands still. Work that it has begun is done first, except for commands that are not sent. */
  void pause(long until) {
    if (!alive || until <= pausedUntil) {
      return;
    }
    world.note(id, Trace.NONE, "stands still", "for " + (until - world.now()) + " us");
    if (!isPaused()) {
      world.judge.pausing(this);
    }
    pausedInAll += until - Math.max(pausedUntil, world.now());
    pausedUntil = until;
  }

  /** Pauses this process and its monotonic clock, as a machine does that sleeps. */
  void sleep(long until) {
    if (!alive || isPaused()) {
      return;
    }
    pause(until);
    clock.sleep(true);
    world.at(until, null, () -> clock.sleep(false));
  }

  void die() {
    world.note(id, Trace.NONE, "dies", "");
    alive = false;
    world.judge.died(this);
    driver.die();
  }

  @Override
  public Task schedule(long delayNanos, Runnable task) {
    long due = clock.nanos() + Math.max(0, delayNanos);
    Timer timer = new Timer(due, task);
    timer.plan();
    return timer;
  }

  /** Runs the task at once, because such tasks only start other tasks and never block. */
  @Override
  public void fork(Runnable task) {
    task.run();
  }

  @Override
  public void close() {}

  private final class Timer implements Task {
    private final long due;
    private final Runnable task;
    private boolean late;
    private Event event = new Event(0, 0, null, () -> {});

    Timer(long due, Runnable task) {
      this.due = due;
      this.task = task;
    }

    void plan() {
      event = world.at(world.now() + clock.micros(due - clock.nanos()), Host.this, this::fire);
    }

    private void fire() {
      if (clock.nanos() < due) {
        plan();
      } else if (!late && (pausedUntil == world.now() || world.chance(20))) {
        late = true;
        event = world.at(world.now() + world.spread(10, LATEST), Host.this, this::fire);
      } else {
        task.run();
      }
    }

    @Override
    public void cancel() {
      world.cancel(event);
    }
  }
}
