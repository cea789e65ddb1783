package dev.holdfast.core;

import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;

/** The state of a grant. Immutable. */
sealed interface GrantState {
  /**
   * The grant is held.
   *
   * @param validUntil the end of validity if nothing extends it
   * @param reasonIfItExpires the reason of the loss at that time
   */
  record Held(ClockReading validUntil, LossReason reasonIfItExpires) implements GrantState {
    /** Returns the state while it is not known whether a quorum can be reached. */
    Held perhapsUnreachable() {
      return isAtLimit() ? this : new Held(validUntil, LossReason.UNREACHABLE);
    }

    Held extended(ClockReading end, boolean atLimit) {
      return new Held(end, atLimit || isAtLimit() ? LossReason.MAX_HOLD : LossReason.EXPIRED);
    }

    /** Returns the state once no extension can move the end any more. */
    Held atLimit() {
      return new Held(validUntil, LossReason.MAX_HOLD);
    }

    boolean isAtLimit() {
      return reasonIfItExpires == LossReason.MAX_HOLD;
    }
  }

  /**
   * The grant is released, or its release is in flight.
   *
   * @param result the answer to every release
   */
  record Released(CompletableFuture<Boolean> result) implements GrantState {}

  /** The grant is lost. */
  record Lost(LossReason reason, ClockReading since) implements GrantState {}
}
