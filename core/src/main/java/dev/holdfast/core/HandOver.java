package dev.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Has the first in line try for a lock as soon as its release is on its way. The attempt follows
 * the release to every part of the backend, so that handing over costs one round trip, not two. It
 * is an attempt like any other: where it overtakes the release it is refused, and made again.
 */
final class HandOver {
  private final WaitingLines lines;
  private final String name;

  HandOver(WaitingLines lines, String name) {
    this.lines = lines;
    this.name = name;
  }

  /**
   * Starts a release, and behind it an attempt.
   *
   * @param callerWaits whether this thread may be used for input and output
   * @param release is told whether it may use this thread
   */
  <T> CompletableFuture<T> during(
      boolean callerWaits, Function<Boolean, CompletableFuture<T>> release) {
    @Nullable Acquisition next = lines.claimHead(name);
    if (next == null) {
      return release.apply(callerWaits).whenComplete((given, failure) -> lines.wake(name));
    }
    CompletableFuture<T> released = release.apply(false);
    next.attempt(callerWaits);
    return released.whenComplete((given, failure) -> next.wake());
  }
}
