package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Threads on which users are called back, and the threads of exceptions. */
final class CallbackFlaws {
  private CallbackFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inSettings(
            "all callbacks of a manager run on one thread, one after the other",
            Set.of("LOSS-5"),
            builder -> builder.callbacks(new InARow())),
        Flaw.inManager(
            "executeLocked's interrupt waits behind callbacks that users added later",
            Set.of("LOSS-8", "RES-1"),
            right ->
                new PassingManager(right) {
                  @Override
                  Lease lease(Lease granted) {
                    return new InterruptedLast(granted);
                  }
                }),
        Flaw.inManager(
            "an outage has the frames of the thread that saw it",
            Set.of("ERR-7"),
            right ->
                new PassingManager(right) {
                  @Override
                  public Optional<Lease> tryAcquire(LockRequest request)
                      throws InterruptedException {
                    try {
                      return super.tryAcquire(request);
                    } catch (LockOutageException outage) {
                      outage.setStackTrace(new StackTraceElement[0]);
                      throw outage;
                    }
                  }
                }));
  }

  /** Runs tasks in turn, each on a thread of its own that ends with it. */
  private static final class InARow implements Executor {
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    @Override
    public synchronized void execute(Runnable task) {
      last =
          last.thenRunAsync(
              task,
              next -> {
                Thread thread = new Thread(next, "in a row");
                thread.setDaemon(true);
                thread.start();
              });
    }
  }

  /** Calls back the one who came last first, and one after the other. */
  private static final class InterruptedLast extends PassingLease {
    private final CompletableFuture<LossReason> lost;

    InterruptedLast(Lease right) {
      super(right);
      this.lost = right.onLoss().copy();
    }

    @Override
    public CompletableFuture<LossReason> onLoss() {
      return lost;
    }
  }
}
