package dev.holdfast.core;

import dev.holdfast.LossReason;
import dev.holdfast.core.GrantState.Lost;
import dev.holdfast.core.LockPrimitive.Grant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The reports of one lease. By default only a loss is reported, and to the flight recorder alone,
 * because a recording may be younger than the request. A lease whose request began without a
 * listener and without a recording has {@link #NONE}, which reads no clock and allocates nothing.
 */
interface LeaseReport {
  /** The number of a lease whose request began without a listener and without a recording. */
  long NO_ID = 0;

  /** The reports of a lease whose request began without a listener and without a recording. */
  LeaseReport NONE = new LeaseReport() {};

  /** Notes the grant, before any other thread can end it. It is reported by {@link #drain}. */
  default void granted(Grant grant, ClockReading at, long waitedNanos) {}

  /** Reports what was noted. */
  default void drain() {}

  /** Notes that a renewal begins. */
  default void renewalBegun() {}

  /**
   * Reports the outcome of the renewal in flight.
   *
   * @param isHeld whether the lease has not ended. A renewal that its release cut short is none
   */
  default void renewalEnded(@Nullable Throwable failure, boolean isHeld) {}

  /** Notes that a holder gave the lease up. Its end is reported later. */
  default void onRelease() {}

  /** Notes that the lease was lost. Its end is reported later. */
  default void onLoss(Grant grant, ClockReading grantedAt, Lost lost) {
    long held = lost.since().nanosSince(grantedAt);
    Flight.RECORDER.lost(grant.name(), NO_ID, lost.reason().name(), held);
  }

  /** Reports that a holder has released the lease after its loss. */
  default void overrun(ClockReading lostSince) {}

  /** Reports that the lease was transferred. */
  default void transferred() {}

  /**
   * Reports that the lease was released.
   *
   * @param confirmed whether a quorum answered the release
   */
  default void released(boolean confirmed) {}

  /** Reports that the lease was lost. */
  default void lost(LossReason reason) {}

  /** Reports the end of a lease whose release was answered, and perhaps found a loss. */
  default void answered(Grant grant, ClockReading grantedAt, GrantState end) {
    if (end instanceof Lost lost) {
      onLoss(grant, grantedAt, lost);
    }
  }

  /** Reports that the lease was released, once its release is answered. */
  default void releasedOnceAnswered(CompletableFuture<LockPrimitive.Released> release) {}

  /** Reports that the lease was lost, once its release is answered. */
  default void lostOnceAnswered(
      LossReason reason, CompletableFuture<LockPrimitive.Released> release) {}
}
