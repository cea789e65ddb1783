package dev.holdfast.examples;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.Optional;

/** One process at a time does the work, and the others find that it is in progress. */
final class FirstLock {
  private FirstLock() {}

  /**
   * Acquires a lock, works, and releases the lock.
   *
   * @param args a URL, for example {@code redlock:redis://h1,redis://h2,redis://h3}
   */
  public static void main(String[] args) throws InterruptedException {
    try (LockManager locks = LockManager.open(args[0])) {
      Optional<Lease> lease = locks.tryAcquire("nightly-report", Duration.ofSeconds(30));
      if (lease.isEmpty()) {
        System.out.println("another process is at it");
        return;
      }
      try (Lease held = lease.get()) {
        String report = "the report";
        held.requireHeld(); // right before every effect that others can see
        System.out.println(report);
      }
    }
  }
}
