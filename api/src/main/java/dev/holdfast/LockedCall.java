package dev.holdfast;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One call of a task under a lease, which is bound to the calling thread during the call. An
 * interrupt for the loss never outlasts the call: the call ends with an exception, so that a
 * transaction around it rolls back, on a thread that is not interrupted.
 */
final class LockedCall {
  /**
   * The thread that tells the loss, instead of the manager's callback executor: users' code may
   * block that.
   */
  private static final Executor APART = Runnable::run;

  private LockedCall() {}

  /** Returns a task that runs an action and returns true. */
  static <X extends Exception> LockedTask<Boolean, X> task(LockedAction<X> action) {
    return lease -> {
      action.run(lease);
      return true;
    };
  }

  /** Runs a task, and releases the lease in every case. */
  static <T, X extends Exception> T releasing(
      LockManager manager, Lease lease, LockedTask<T, X> task) throws InterruptedException, X {
    try (lease) {
      return run(manager, lease, task, () -> release(lease));
    }
  }

  /** Runs a task under a lease that the caller holds and releases. */
  static <T, X extends Exception> T holding(
      @Nullable LockManager manager, Lease lease, LockedTask<T, X> task)
      throws InterruptedException, X {
    lease.requireHeld();
    return run(manager, lease, task, () -> {});
  }

  private static <T, X extends Exception> T run(
      @Nullable LockManager manager, Lease lease, LockedTask<T, X> task, Runnable onLost)
      throws InterruptedException, X {
    BoundLease bound = BoundLease.bind(manager, lease);
    LossInterrupt interrupt = bound.interrupt();
    try {
      Runnable unwatch = watch(lease, interrupt);
      T result;
      try {
        result = task.call(lease);
      } catch (Throwable thrown) {
        interrupt.end();
        throwIfLost(lease, interrupt, onLost, thrown);
        throw thrown;
      } finally {
        unwatch.run();
      }
      interrupt.end();
      throwIfLost(lease, interrupt, onLost, null);
      return result;
    } finally {
      bound.unbind();
    }
  }

  /**
   * Interrupts the thread of a call at a loss. The returned task ends that. A stage that is
   * cancelled stays in the memory of the one that it depends on, except if it waits for a second
   * one that completes.
   */
  private static Runnable watch(Lease lease, LossInterrupt interrupt) {
    CompletableFuture<LossReason> ended = new CompletableFuture<>();
    CompletableFuture<Void> watch =
        lease.onLoss().acceptEitherAsync(ended, reason -> interrupt.onLoss(), APART);
    return () -> {
      watch.cancel(false);
      ended.cancel(false);
    };
  }

  private static void throwIfLost(
      Lease lease, LossInterrupt interrupt, Runnable onLost, @Nullable Throwable thrown) {
    try {
      lease.requireHeld();
    } catch (LockLostException lost) {
      interrupt.endWithLoss();
      onLost.run();
      throw thrown == null || thrown == lost
          ? lost
          : new LockLostException(lease.name(), lost.reason(), thrown);
    } catch (IllegalStateException releasedByTheTask) {
      // a release is no loss: the result or the exception of the task stands
    }
  }

  /** Releases a lost lease before it is closed, because closing it would log the loss. */
  private static void release(Lease lost) {
    try {
      lost.release();
    } catch (LockException unreachable) {
      // the loss is thrown, and says more
    }
  }
}
