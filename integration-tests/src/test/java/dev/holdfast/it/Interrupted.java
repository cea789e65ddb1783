package dev.holdfast.it;

import dev.holdfast.Lease;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** One thread that asks for a lock and may be interrupted while it does. */
final class Interrupted {
  private final Thread thread;
  private volatile @Nullable Lease lease;
  private volatile @Nullable Throwable thrown;
  private volatile boolean flagAfterwards;

  Interrupted(Callable<Lease> call) {
    thread =
        new Thread(
            () -> {
              try {
                lease = call.call();
              } catch (Throwable t) {
                thrown = t;
              }
              flagAfterwards = Thread.currentThread().isInterrupted();
            },
            "interrupted");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean isWaiting() {
    return thread.getState() == Thread.State.WAITING;
  }

  boolean isOver() {
    return thread.getState() == Thread.State.TERMINATED;
  }

  /** The call ended by it, and took the flag. */
  boolean sawInterrupt() {
    return thrown instanceof InterruptedException && !flagAfterwards;
  }

  /** The call ended by itself, and left the flag to its caller. */
  boolean keptFlag() {
    return thrown == null && flagAfterwards;
  }

  Optional<Lease> lease() {
    return Optional.ofNullable(lease);
  }

  @Override
  public String toString() {
    return "lease " + lease + ", thrown " + thrown + ", flag " + flagAfterwards;
  }
}
