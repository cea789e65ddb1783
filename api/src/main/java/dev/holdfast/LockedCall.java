package dev.holdfast;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One call of a task under a lease, which is bound to the calling thread meanwhile. An interrupt
 * for the loss never outlasts the call: what leaves it is an exception, so that a transaction
 * around the call rolls back, on a thread that is not interrupted.
 */
final class LockedCall {
  /**
   * The thread that tells the loss, instead of the manager's callback executor: users' code may
   * block that.
   */
  private static final Executor APART = Runnable::run;

  private final Thread thread = Thread.currentThread();
  private boolean running = true;

  /** Whether the thread was interrupted for the loss, and that was not taken back. */
  private boolean interrupted;

  /** The number of inner calls that must not be interrupted. */
  private int shields;

  private boolean postponed;

  private LockedCall() {}

  /** Runs a task, and releases the lease in every case. */
  static <T, X extends Exception> T releasing(
      LockManager manager, Lease lease, LockedTask<T, X> task) throws InterruptedException, X {
    try (lease) {
      return new LockedCall().run(manager, lease, task, () -> release(lease));
    }
  }

  /** Runs a task under a lease that the caller holds and releases. */
  static <T, X extends Exception> T holding(
      @Nullable LockManager manager, Lease lease, LockedTask<T, X> task)
      throws InterruptedException, X {
    lease.requireHeld();
    return new LockedCall().run(manager, lease, task, () -> {});
  }

  private <T, X extends Exception> T run(
      @Nullable LockManager manager, Lease lease, LockedTask<T, X> task, Runnable onLost)
      throws InterruptedException, X {
    BoundLease bound = BoundLease.bind(manager, lease, this);
    try {
      Runnable unwatch = watch(lease);
      T result;
      try {
        result = task.call(lease);
      } catch (Throwable thrown) {
        end();
        throwIfLost(lease, bound, onLost, thrown);
        throw thrown;
      } finally {
        unwatch.run();
      }
      end();
      throwIfLost(lease, bound, onLost, null);
      return result;
    } finally {
      bound.unbind();
    }
  }

  /**
   * Interrupts this call at a loss. The returned task ends that. A stage that is cancelled stays in
   * the memory of the one that it depends on, except if it waits for a second one that completes.
   */
  private Runnable watch(Lease lease) {
    CompletableFuture<LossReason> ended = new CompletableFuture<>();
    CompletableFuture<Void> watch =
        lease.onLoss().acceptEitherAsync(ended, reason -> interrupt(), APART);
    return () -> {
      watch.cancel(false);
      ended.cancel(false);
    };
  }

  private static void throwIfLost(
      Lease lease, BoundLease bound, Runnable onLost, @Nullable Throwable thrown) {
    try {
      lease.requireHeld();
    } catch (LockLostException lost) {
      bound.onLossSeen();
      onLost.run();
      throw thrown == null || thrown == lost
          ? lost
          : new LockLostException(lease.name(), lost.reason(), thrown);
    } catch (IllegalStateException releasedByTheTask) {
      // a release is no loss: what the task returned or threw stands
    }
  }

  /** Closing a lost lease logs the loss, unless the lease was released before. */
  private static void release(Lease lost) {
    try {
      lost.release();
    } catch (LockException unreachable) {
      // the loss is thrown, and says more
    }
  }

  private synchronized void interrupt() {
    if (!running) {
      return;
    }
    if (shields > 0) {
      postponed = true;
    } else {
      interrupted = !thread.isInterrupted(); // an interrupt of the user stays the user's
      thread.interrupt();
    }
  }

  /**
   * Postpones the interrupts of this call until {@link #unshield}: an interrupt that was ours is
   * taken back. Called on the thread of the call.
   */
  synchronized void shield() {
    shields++;
    if (interrupted) {
      interrupted = false;
      postponed = Thread.interrupted();
    }
  }

  /** Delivers a postponed interrupt when the last shield ends, unless the thread has another. */
  synchronized void unshield() {
    shields--;
    if (shields == 0 && postponed) {
      postponed = false;
      interrupted = !thread.isInterrupted();
      thread.interrupt();
    }
  }

  /**
   * Ends the interrupts of this call. From here on the thread is the caller's again: an interrupt
   * that was ours is taken back.
   */
  synchronized void end() {
    running = false;
    postponed = false;
    if (interrupted) {
      interrupted = false;
      Thread.interrupted();
    }
  }
}
