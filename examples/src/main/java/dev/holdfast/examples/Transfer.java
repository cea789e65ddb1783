package dev.holdfast.examples;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/** A web request takes a lock, and a worker in another process goes on with it. */
final class Transfer {
  private static final Duration TTL = Duration.ofSeconds(30);

  /** How long the job may wait in the queue, at most the manager's {@code maxTtl}. */
  private static final Duration WITHIN = Duration.ofSeconds(50);

  private Transfer() {}

  /** Handles a web request: takes the lock, and sends a job that has it. */
  static void request(LockManager locks, String name, Consumer<String> queue)
      throws InterruptedException {
    try (Lease lease = locks.acquire(name, TTL)) {
      queue.accept(lease.transfer(WITHIN));
    }
  }

  /**
   * Does a job of the queue and releases its lock.
   *
   * @return empty if the message came twice or too late
   */
  static <T> Optional<T> work(
      LockManager locks, String name, String message, Function<Lease, T> job) {
    LockRequest request = LockRequest.of(name, TTL).keepAliveUpTo(Duration.ofHours(1));
    try (Lease lease = locks.adopt(message, request)) {
      return Optional.of(job.apply(lease));
    } catch (LockLostException e) {
      return Optional.empty();
    }
  }
}
