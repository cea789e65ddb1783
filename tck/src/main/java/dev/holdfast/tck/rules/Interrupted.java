package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * One thread that asks for a lock, and is interrupted at some time: while it asks, or afterwards.
 */
final class Interrupted {
  private final Thread thread;
  private volatile @Nullable Lease lease;
  private volatile @Nullable Throwable thrown;
  private volatile boolean begun;
  private volatile boolean over;
  private volatile boolean flag;

  Interrupted(Callable<Lease> call) {
    thread =
        new Thread(
            () -> {
              begun = true;
              try {
                lease = call.call();
              } catch (Throwable t) {
                thrown = t;
              }
              over = true;
              if (!(thrown instanceof InterruptedException)) {
                flag = awaitsInterrupt();
              }
            },
            "interrupted");
    thread.setDaemon(true);
  }

  /** Waits for the end of a lease, although the thread may be interrupted meanwhile. */
  static void awaitOver(TckFixture fixture, Lease lease) {
    long limit = System.nanoTime() + fixture.timing().soon().toNanos();
    while (lease.isHeld() && System.nanoTime() - limit < 0) {
      Thread.interrupted();
      Attempts.pause();
    }
  }

  void start() {
    thread.start();
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean isWaiting() {
    return Call.isWaiting(thread) && !over;
  }

  /** Returns whether the thread has begun its call. */
  boolean hasBegun() {
    return begun;
  }

  boolean isOver() {
    return over;
  }

  /** Returns whether the interrupt ended the call and its flag was cleared. */
  boolean endedByInterrupt() {
    return over && thrown instanceof InterruptedException && !thread.isInterrupted();
  }

  /** Returns whether the call ended by itself and its caller got the interrupt. */
  boolean leftInterruptToCaller() {
    return flag && thrown == null;
  }

  Optional<Lease> lease() {
    return Optional.ofNullable(lease);
  }

  @Override
  public String toString() {
    return "over " + over + ", lease " + lease + ", thrown " + thrown + ", flag " + flag;
  }

  /** Returns when the flag is set or comes, and never if it was swallowed. */
  private static boolean awaitsInterrupt() {
    try {
      new CountDownLatch(1).await();
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }
}
