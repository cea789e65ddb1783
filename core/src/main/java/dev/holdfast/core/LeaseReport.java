package dev.holdfast.core;

import dev.holdfast.LossReason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The events of one lease with the times that they need. Reads no clock and does nothing if nothing
 * is reported of the lease.
 *
 * @param clock the manager's
 * @param grantedAt when the lease began
 * @param events null if there was no listener when the request began
 */
record LeaseReport(Clock clock, ClockReading grantedAt, @Nullable LeaseEvents events) {
  /** Notes that a holder gave the lease up. Its end is reported later. */
  void onRelease() {
    if (events != null) {
      events.onRelease(clock.now().nanosSince(grantedAt));
    }
  }

  /** Notes that the lease was lost at this time. Its end is reported later. */
  void onLoss(ClockReading since) {
    if (events != null) {
      events.onLoss(since.nanosSince(grantedAt));
    }
  }

  /** Reports that a holder has released the lease after its loss. */
  void overrun(ClockReading lostSince) {
    if (events != null) {
      events.overrun(clock.now().nanosSince(lostSince));
    }
  }

  void transferred() {
    if (events != null) {
      events.transferred();
    }
  }

  /**
   * Reports the end of the lease.
   *
   * @param confirmed whether a quorum answered the release
   */
  void ended(boolean confirmed, Optional<LossReason> loss) {
    if (events == null) {
      return;
    }
    if (loss.isPresent()) {
      events.lost(loss.get());
    } else {
      events.released(confirmed);
    }
  }

  void releasedOnceAnswered(CompletableFuture<LockPrimitive.Released> release) {
    LeaseEvents reported = events;
    if (reported != null) {
      release.whenComplete((answer, failure) -> reported.released(answer != null));
    }
  }

  void lostOnceAnswered(LossReason reason, CompletableFuture<LockPrimitive.Released> release) {
    LeaseEvents reported = events;
    if (reported != null) {
      release.whenComplete((answer, failure) -> reported.lost(reason));
    }
  }
}
