package dev.holdfast.core;

import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Release;
import dev.holdfast.core.LockPrimitive.Released;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Release with a handoff to the head of the wait queue: the waiter's attempt follows the release on
 * every connection, so that a handoff costs one round trip, not two. The attempt is an ordinary
 * one: if it overtakes the release it is refused, and made again.
 *
 * @param queues the waiters
 * @param name the name of the lock
 * @param consecutiveHandoffs how many consecutive handoffs this queue has had
 */
record Handoff(WaitQueues queues, String name, int consecutiveHandoffs) {
  /** The most consecutive handoffs before waiters of other managers may get the lock. */
  private static final int MAX_CONSECUTIVE_HANDOFFS = 8;

  /**
   * Starts the release of a grant, and hands the lock off unless the release keeps others out.
   *
   * @param keep how long others are kept out, or zero
   * @param mayLengthen as the part of {@link Release} with this name
   */
  CompletableFuture<Released> release(
      LockPrimitive primitive, Grant grant, Duration keep, boolean mayLengthen) {
    Function<Boolean, CompletableFuture<Released>> release =
        isHandoff ->
            Futures.start(
                () -> primitive.release(new Release(grant, keep, mayLengthen, isHandoff)));
    return keep.isZero() ? during(release) : release.apply(false); // no waiter can have it yet
  }

  /**
   * Starts a release, and an attempt behind it.
   *
   * @param release takes whether a handoff follows
   */
  CompletableFuture<Released> during(Function<Boolean, CompletableFuture<Released>> release) {
    boolean yields = consecutiveHandoffs == MAX_CONSECUTIVE_HANDOFFS;
    @Nullable Waiter next = yields ? null : queues.claimHead(name);
    if (next == null) {
      return release.apply(false).whenComplete((released, failure) -> onReleased(yields, released));
    }
    CompletableFuture<Released> released = release.apply(true);
    next.attempt(consecutiveHandoffs + 1);
    return released.whenComplete(
        (result, failure) -> {
          if (!next.isGranted()) {
            queues.wake(name, consecutiveHandoffs + 1);
          }
        });
  }

  private void onReleased(boolean yields, @Nullable Released released) {
    int others = released == null ? Released.UNKNOWN : released.others();
    if (yields && others > 0) {
      queues.yieldTo(name, others);
    } else {
      queues.wake(name, yields ? 0 : consecutiveHandoffs + 1);
    }
  }
}
