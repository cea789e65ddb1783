package dev.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A reentrant {@link Lock} over one request. Only the thread itself knows which locks it holds. */
final class LockView implements Lock {
  private final LockManager manager;
  private final LockRequest request;

  @SuppressWarnings("ThreadLocalUsage") // a hold belongs to the thread and to this view
  private final ThreadLocal<@Nullable Hold> held = new ThreadLocal<>();

  LockView(LockManager manager, LockRequest request) {
    this.manager = manager;
    this.request = request;
  }

  @Override
  public void lock() {
    if (!reenter()) {
      enter(uninterruptibly(() -> manager.acquire(request.waitForever())));
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!reenter()) {
      enter(manager.acquire(request.waitForever()));
    }
  }

  @Override
  public boolean tryLock() {
    return reenter()
        || enter(uninterruptibly(() -> manager.tryAcquire(request.waitAtMost(Duration.ZERO))));
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Duration wait = Duration.ofNanos(unit.toNanos(Math.max(0, time)));
    return reenter() || enter(manager.tryAcquire(request.waitAtMost(wait)));
  }

  @Override
  public void unlock() {
    Hold hold = held.get();
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "this thread does not hold the lock '" + request.name() + "' through this view");
    }
    if (hold.depth > 1) {
      hold.depth--;
      return;
    }
    held.remove();
    if (!hold.lease.release()) {
      hold.lease.requireHeld();
    }
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }

  private boolean reenter() {
    Hold hold = held.get();
    if (hold == null) {
      return false;
    }
    hold.lease.requireHeld();
    hold.depth++;
    return true;
  }

  private boolean enter(Optional<Lease> lease) {
    lease.ifPresent(this::enter);
    return lease.isPresent();
  }

  private void enter(Lease lease) {
    held.set(new Hold(lease));
  }

  /** Ignores interrupts, which the interface cannot report, and sets the interrupt status again. */
  private static <T> T uninterruptibly(Attempt<T> attempt) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return attempt.make();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private interface Attempt<T> {
    T make() throws InterruptedException;
  }

  /** Belongs to one thread. */
  private static final class Hold {
    private final Lease lease;
    private int depth = 1;

    Hold(Lease lease) {
      this.lease = lease;
    }
  }
}
