package dev.holdfast.examples;

import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A job of unknown length: the lock is renewed meanwhile, and the job ends if it is lost. */
final class LongJob {
  private LongJob() {}

  /** Does what it is given in steps, until the last one or until the lock is lost. */
  static String run(LockManager locks, int steps, CountDownLatch begun)
      throws InterruptedException {
    LockRequest request =
        LockRequest.of("migration", Duration.ofSeconds(10)) // the cost of a crash of this process
            .keepAliveUpTo(Duration.ofHours(2)); //            the cost of a job that hangs
    try {
      return locks.executeLocked(
          request,
          lease -> {
            begun.countDown();
            for (int step = 1; step <= steps; step++) {
              Thread.sleep(1); // work that answers to interrupts
              lease.requireHeld();
            }
            return "done";
          });
    } catch (LockLostException e) {
      return "stopped: the lock was lost, " + e.reason();
    }
  }
}
