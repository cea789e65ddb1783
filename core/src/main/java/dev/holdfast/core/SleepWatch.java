package dev.holdfast.core;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Notices that the wall clock has gone ahead of the monotonic clock: the machine slept, or its
 * clock was set. Timers follow the monotonic clock alone, so that leases have less time left than
 * their timers know. One timer serves all leases of a manager. It ends when it finds none, so that
 * a lease that is opened and released between two looks starts and cancels nothing.
 */
final class SleepWatch {
  /** The interval between two checks: so a loss is reported within a second of waking. */
  private static final long INTERVAL_NANOS = 500_000_000;

  /** More than readings of both clocks differ by because a thread was held up between them. */
  private static final long LEAP_NANOS = 50_000_000;

  private final ManagerContext context;
  private final BooleanSupplier isNeeded;
  private final Runnable leapt;
  private final AtomicBoolean watching = new AtomicBoolean();

  /** The readings with the wall clock least ahead since the last leap. */
  private volatile ClockReading base;

  /**
   * Watches nothing yet.
   *
   * @param isNeeded whether any lease is open
   * @param leapt looks at all leases
   */
  SleepWatch(ManagerContext context, BooleanSupplier isNeeded, Runnable leapt) {
    this.context = context;
    this.isNeeded = isNeeded;
    this.leapt = leapt;
    base = context.clock().now();
  }

  /** Begins, unless it has. Called after a lease was added to those that are open. */
  void begin() {
    if (!watching.get() && watching.compareAndSet(false, true)) {
      base = context.clock().now();
      next();
    }
  }

  private void next() {
    boolean scheduled = false;
    try {
      context.scheduler().watch(INTERVAL_NANOS, this::look);
      scheduled = true;
    } finally {
      if (!scheduled) { // the next lease tries again
        watching.set(false);
      }
    }
  }

  private void look() {
    try {
      compare();
    } finally {
      if (isNeeded.getAsBoolean()) {
        next();
      } else {
        end();
      }
    }
  }

  private void end() {
    watching.set(false);
    if (isNeeded.getAsBoolean()) { // a lease that was added meanwhile has seen it watching
      begin();
    }
  }

  private void compare() {
    ClockReading now = context.clock().now();
    long ahead = (now.wallMicros() - base.wallMicros()) * 1_000 - (now.nanos() - base.nanos());
    if (ahead < 0) {
      base = now;
    } else if (ahead > LEAP_NANOS) {
      base = now;
      leapt.run();
    }
  }
}
