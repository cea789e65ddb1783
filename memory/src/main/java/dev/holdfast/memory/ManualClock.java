package dev.holdfast.memory;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock that a test moves, so that leases are renewed and lost without waiting:
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * LockManager locks = MemoryLocks.builder().clock(clock).open();
 * Lease lease = locks.acquire("nightly-report", Duration.ofSeconds(30));
 * clock.advance(Duration.ofSeconds(31));
 * assertFalse(lease.isHeld());
 * }</pre>
 *
 * <p>The timers of all managers on this clock go by it, unless they have a {@link Scheduler} of
 * their own. While the clock stands still, a call that waits for a lock waits, although the lock
 * may be free by then: another thread has to move the clock, or the test takes a {@linkplain
 * #running() running} one.
 *
 * <p>While timers run, no other thread can move the clock. A timer calls a {@link
 * dev.holdfast.LockListener} inline, so a listener that waits for a thread which calls {@link
 * #advance} waits forever. Safe for use by many threads.
 */
public final class ManualClock implements Clock {
  private final long startedAt = System.nanoTime();
  private final boolean isRunning;
  private final AtomicReference<ClockOffset> offset =
      new AtomicReference<>(new ClockOffset(1_000_000_007L, 1_700_000_000_000_000_000L));
  private final ManualTimers timers = new ManualTimers(this);

  /** The readings of both clocks at the start, and the time by which they were moved since. */
  private record ClockOffset(long nanos, long wallNanos) {
    ClockOffset plus(long delay) {
      return new ClockOffset(Math.addExact(nanos, delay), Math.addExact(wallNanos, delay));
    }

    ClockOffset withWallPlus(long delay) {
      return new ClockOffset(nanos, Math.addExact(wallNanos, delay));
    }
  }

  /** Creates a clock that stands still until it is moved. It shows a time of its own. */
  public ManualClock() {
    this(false);
  }

  private ManualClock(boolean isRunning) {
    this.isRunning = isRunning;
  }

  /**
   * Creates a clock that goes at the speed of the machine's clock, and can be moved ahead. Waits,
   * renewals and losses happen by themselves, as in production.
   *
   * @return a new clock, which shows a time of its own
   */
  public static ManualClock running() {
    return new ManualClock(true);
  }

  @Override
  public long nanos() {
    return now().nanos();
  }

  @Override
  public long wallMicros() {
    return now().wallMicros();
  }

  @Override
  public ClockReading now() {
    ClockOffset moved = Objects.requireNonNull(offset.get());
    long elapsed = elapsed();
    return new ClockReading(
        moved.nanos() + elapsed, Math.floorDiv(moved.wallNanos() + elapsed, 1_000));
  }

  /**
   * Moves both clocks ahead and runs the timers that become due on this thread, each at its own
   * time. Leases are renewed and lost, waiters try again. Returns when the callbacks that this led
   * to have run. A callback that blocks is waited for once, for five seconds at most.
   *
   * @param time zero to 365 days
   * @throws LockConfigurationException if the time is out of range
   * @throws IllegalStateException if a callback of a manager on this clock calls this
   */
  public void advance(Duration time) {
    if (time.isNegative()) {
      throw new LockConfigurationException(
          "the clock was asked to go " + time + " ahead: a monotonic clock never goes back");
    }
    timers.advance(inRange(time));
  }

  /**
   * Moves the wall clock alone, as an administrator does who sets it, and as it looks after the
   * machine has slept. A lease goes by the clock that is further ahead. A manager notices such a
   * loss by itself with the next half a second of {@link #advance}.
   *
   * @param by up to 365 days in both directions
   * @throws LockConfigurationException if the time is out of range
   */
  public void moveWallClock(Duration by) {
    long nanos = inRange(by);
    offset.updateAndGet(moved -> moved.withWallPlus(nanos));
  }

  boolean isRunning() {
    return isRunning;
  }

  Scheduler timers() {
    return timers;
  }

  /** Moves both clocks to a time of the monotonic one, unless it has passed. */
  void moveTo(long nanos) {
    offset.updateAndGet(moved -> moved.plus(Math.max(0, nanos - moved.nanos() - elapsed())));
  }

  private long elapsed() {
    return isRunning ? System.nanoTime() - startedAt : 0;
  }

  private static long inRange(Duration time) {
    if (time.abs().compareTo(ManagerOptions.LONGEST_MAX_TTL) > 0) {
      throw new LockConfigurationException(
          "the clock was asked to go "
              + time
              + " ahead: give at most "
              + ManagerOptions.LONGEST_MAX_TTL.toDays()
              + " days at a time");
    }
    return time.toNanos();
  }
}
