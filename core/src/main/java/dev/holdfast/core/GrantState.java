package dev.holdfast.core;

import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;

/** The state of a grant. Immutable. */
sealed interface GrantState {
  /** Returns the failure of what needs a lease that is held. */
  default RuntimeException ended(String name) {
    if (this instanceof Lost lost) {
      return new LockLostException(name, lost.reason());
    }
    String how = this instanceof Transferred ? "transferred" : "released";
    return new IllegalStateException("the lease on '" + name + "' was " + how);
  }

  /** Returns whether a quorum showed that it does not hold the lock: its keys protect nothing. */
  default boolean isShownLost() {
    return this instanceof Lost lost
        && (lost.reason() == LossReason.TAKEN || lost.reason() == LossReason.REMOVED);
  }

  /**
   * The grant is held.
   *
   * @param validUntil the end of validity if nothing extends it
   * @param reasonIfItExpires the reason of the loss at that time
   * @param keptUntil until when a release keeps other owners out, by the clock's nanoseconds
   */
  record Held(ClockReading validUntil, LossReason reasonIfItExpires, long keptUntil)
      implements GrantState {
    /** Returns the state while it is not known whether a quorum can be reached. */
    Held perhapsUnreachable() {
      return isAtLimit() ? this : new Held(validUntil, LossReason.UNREACHABLE, keptUntil);
    }

    /** Returns the state after an extension, which never shortens the validity. */
    Held extended(ClockReading end, ClockReading now, boolean atLimit) {
      boolean isLater = now.nanosUntil(end) > now.nanosUntil(validUntil);
      LossReason reason = atLimit || isAtLimit() ? LossReason.MAX_HOLD : LossReason.EXPIRED;
      return new Held(isLater ? end : validUntil, reason, keptUntil);
    }

    /** Returns the state once no extension can move the end any more. */
    Held atLimit() {
      return new Held(validUntil, LossReason.MAX_HOLD, keptUntil);
    }

    /** Returns the state with another end of the time for which a release keeps others out. */
    Held withKeptUntil(long until) {
      return new Held(validUntil, reasonIfItExpires, until);
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

  /**
   * The grant belongs to the text by which another process adopts it.
   *
   * @param by the call that transferred it
   */
  record Transferred(Object by) implements GrantState {}

  /** The grant is lost. */
  record Lost(LossReason reason, ClockReading since) implements GrantState {}
}
