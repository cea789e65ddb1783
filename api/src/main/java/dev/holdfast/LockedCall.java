package dev.holdfast;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** One call of a task under a lease. Sees to it that an interrupt for loss never comes late. */
final class LockedCall {
  /**
   * The thread that tells the loss, instead of the manager's callback executor: users' code may
   * block that.
   */
  private static final Executor APART = Runnable::run;

  private final Thread thread = Thread.currentThread();
  private boolean running = true;
  private boolean interrupted;

  private LockedCall() {}

  static <T, X extends Exception> T run(Lease lease, LockedTask<T, X> task)
      throws InterruptedException, X {
    try (lease) {
      LockedCall call = new LockedCall();
      lease.onLoss().thenAcceptAsync(reason -> call.interrupt(), APART);
      T result;
      try {
        result = task.call(lease);
      } catch (Throwable thrown) {
        call.end();
        throwIfLost(lease, thrown);
        throw thrown;
      }
      call.end();
      throwIfLost(lease, null);
      return result;
    }
  }

  private static void throwIfLost(Lease lease, @Nullable Throwable thrown) {
    try {
      lease.requireHeld();
    } catch (LockLostException lost) {
      release(lease);
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
    if (running) {
      interrupted = true;
      thread.interrupt();
    }
  }

  /** From here on the thread is the caller's again: an interrupt that was ours is taken back. */
  private synchronized void end() {
    running = false;
    if (interrupted) {
      Thread.interrupted();
    }
  }
}
