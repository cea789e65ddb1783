package dev.holdfast.core;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Notices that the wall clock has gone ahead of the monotonic clock: the machine slept, or somebody
 * set the clock. Timers follow the monotonic clock alone, so that leases have less time left than
 * their timers know. One timer serves all leases of a manager, and only while there are any.
 */
final class SleepWatch {
  /** With the limit for a thread to run, a loss is told within a second of waking. */
  private static final long INTERVAL_NANOS = 500_000_000;

  /** More than readings of both clocks differ by because a thread was held up between them. */
  private static final long LEAP_NANOS = 50_000_000;

  private final Surroundings surroundings;
  private final BooleanSupplier isNeeded;
  private final Runnable leapt;
  private final AtomicReference<@Nullable Watch> current = new AtomicReference<>();

  /**
   * Watches nothing yet.
   *
   * @param isNeeded whether any lease is open
   * @param leapt looks at all leases
   */
  SleepWatch(Surroundings surroundings, BooleanSupplier isNeeded, Runnable leapt) {
    this.surroundings = surroundings;
    this.isNeeded = isNeeded;
    this.leapt = leapt;
  }

  /** Begins, unless it has. Called after a lease was added to those that are open. */
  void begin() {
    if (current.get() == null) {
      Watch watch = new Watch(surroundings.clock().now());
      if (current.compareAndSet(null, watch)) {
        watch.next();
        end(); // the lease may have ended in the meantime
      }
    }
  }

  /** Ends if no lease is open any more. Called after a lease was removed. */
  void end() {
    Watch watch = current.get();
    if (watch != null && !isNeeded.getAsBoolean() && current.compareAndSet(watch, null)) {
      watch.cancel();
      if (isNeeded.getAsBoolean()) {
        begin();
      }
    }
  }

  private final class Watch {
    /** The readings with the wall clock least ahead since the last leap. */
    private Moment base;

    private volatile Scheduler.@Nullable Task next;

    Watch(Moment base) {
      this.base = base;
    }

    void next() {
      next = surroundings.scheduler().watch(INTERVAL_NANOS, this::look);
      if (current.get() != this) {
        cancel();
      }
    }

    void cancel() {
      Scheduler.Task task = next;
      if (task != null) {
        task.cancel();
      }
    }

    private void look() {
      if (current.get() == this) {
        try {
          compare();
        } finally {
          next();
        }
      }
    }

    private void compare() {
      Moment now = surroundings.clock().now();
      long ahead = (now.wallMicros() - base.wallMicros()) * 1_000 - (now.nanos() - base.nanos());
      if (ahead < 0) {
        base = now;
      } else if (ahead > LEAP_NANOS) {
        base = now;
        leapt.run();
      }
    }
  }
}
