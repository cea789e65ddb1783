package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock that one manager holds and another one waits for. The waiter's back-off is longer than any
 * test, so that it gets the lock in time only if it is notified of its release.
 */
final class Waited {
  /** The option of a manager that polls too seldom for a test. */
  static final String PATIENT = "retryDelay=600s";

  private static final Duration LONG = Duration.ofHours(1);

  private final TckFixture fixture;
  private final Lease held;
  private final CompletableFuture<Optional<Lease>> waiter;

  private Waited(TckFixture fixture, Lease held, CompletableFuture<Optional<Lease>> waiter) {
    this.fixture = fixture;
    this.held = held;
    this.waiter = waiter;
  }

  /**
   * Takes a lock on all nodes, so that each can notify of its release, and begins to wait for it.
   */
  static Waited begin(TckFixture fixture, LockManager holder, LockManager waits, String name) {
    Lease held = OnNodes.take(fixture, holder, name, fixture.foreignTtl());
    return new Waited(fixture, held, wait(fixture, waits, name));
  }

  private static CompletableFuture<Optional<Lease>> wait(
      TckFixture fixture, LockManager waits, String name) {
    LockRequest request = fixture.request(name).waitAtMost(LONG);
    return waits.tryAcquireAsync(request);
  }

  /** Leaves a test out because no waiter is notified, though nothing is wrong. */
  static void abortWithoutNotifications() {
    abort("these managers do not notify waiters of releases by others, which is allowed");
  }

  String name() {
    return held.name();
  }

  /** Gives the lock back. */
  void release(ReleaseWay way) {
    way.release(fixture, held);
  }

  /** Ends the wait. */
  void cancel() {
    waiter.cancel(true);
  }

  boolean isWaiting() {
    return !waiter.isDone();
  }

  boolean isServed() {
    return waiter.isDone() && !waiter.isCompletedExceptionally();
  }

  /** Releases the lock, and returns whether the waiter gets it within this time. */
  boolean isServedWithin(Duration limit) {
    release(ReleaseWay.RELEASE);
    long begun = System.nanoTime();
    while (!isServed() && Elapsed.since(begun).compareTo(limit) < 0) {
      Attempts.pause();
    }
    return isServed();
  }

  /** Ends the wait, and releases the lock from behind. */
  void end() {
    cancel();
    Attempts.release(fixture, held);
  }
}
