package dev.holdfast.core;

import dev.holdfast.core.LockPrimitive.Released;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Has the first in line try for a lock as soon as its release is on its way. The attempt follows
 * the release to every part of the backend, so that handing over costs one round trip, not two. It
 * is an attempt like any other: where it overtakes the release it is refused, and made again.
 *
 * @param lines who waits
 * @param name of the lock
 * @param inRow how often in a row it was handed over until now
 */
record HandOver(WaitingLines lines, String name, int inRow) {
  /** How often in a row a lock passes from one of a line to the next before others may get it. */
  private static final int MOST_IN_ROW = 8;

  /**
   * Starts a release, and behind it an attempt.
   *
   * @param callerWaits whether this thread may be used for input and output
   * @param release is told whether it hands over, and whether it may use this thread
   */
  CompletableFuture<Released> during(
      boolean callerWaits, BiFunction<Boolean, Boolean, CompletableFuture<Released>> release) {
    boolean othersAreNext = inRow == MOST_IN_ROW;
    @Nullable Acquisition next = othersAreNext ? null : lines.claimHead(name);
    if (next == null) {
      return release
          .apply(false, callerWaits)
          .whenComplete(
              (released, failure) -> {
                int others = released == null ? Released.UNKNOWN : released.others();
                if (othersAreNext && others > 0) {
                  lines.rest(name, others);
                } else {
                  lines.wake(name, othersAreNext ? 0 : inRow + 1);
                }
              });
    }
    CompletableFuture<Released> released = release.apply(true, false);
    next.attempt(callerWaits, inRow + 1);
    return released.whenComplete(
        (given, failure) -> {
          if (!next.isGranted()) {
            lines.wake(name, inRow + 1);
          }
        });
  }
}
