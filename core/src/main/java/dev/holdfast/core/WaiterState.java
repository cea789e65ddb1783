package dev.holdfast.core;

import dev.holdfast.core.AttemptFailure.Contended;
import dev.holdfast.core.AttemptFailure.Outage;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The whole state of a {@link Waiter}. Immutable.
 *
 * @param phase the present activity of the waiter
 * @param notifications how it reacts to the next release notification
 * @param failure why its last attempt gave no lock, {@link Contended#UNTRIED} before the first
 */
record WaiterState(Phase phase, NotificationBackoff notifications, AttemptFailure failure) {
  static final WaiterState INITIAL =
      new WaiterState(Queued.QUEUED, NotificationBackoff.NONE, Contended.UNTRIED);

  static final Scheduler.Task NO_TASK = () -> {};

  /** The activity of a waiter. Phases are compared by identity, except {@link Queued}. */
  sealed interface Phase permits Queued, Attempting, BackingOff, AwaitingPermit, Done {
    /**
     * Returns the phase once the lock may have become free.
     *
     * @param handoffs how many consecutive handoffs the queue has had
     */
    default Phase woken(int handoffs) {
      return this;
    }
  }

  /** The waiter is in the wait queue, before its first attempt. */
  enum Queued implements Phase {
    QUEUED
  }

  /** Its request has a result, or gets it from the thread that made this transition. */
  enum Done implements Phase {
    GRANTED,
    UNGRANTED
  }

  /**
   * An attempt is in flight, or about to start.
   *
   * @param progress reports an outage of the attempt
   * @param isWoken whether the lock may have become free since the attempt started
   * @param consecutiveHandoffs of the handoff that woke the waiter
   * @param notifiedDelayNanos the longest delay before the next attempt because of a release
   *     notification, 0 without one
   */
  record Attempting(
      AttemptProgress progress, boolean isWoken, int consecutiveHandoffs, long notifiedDelayNanos)
      implements Phase {
    Attempting() {
      this(new AttemptProgress(), false, 0, 0);
    }

    @Override
    public Attempting woken(int handoffs) {
      return new Attempting(progress, true, handoffs, notifiedDelayNanos);
    }

    Attempting notified(long delayNanos) {
      return new Attempting(progress, isWoken, consecutiveHandoffs, delayNanos);
    }
  }

  /**
   * Between two attempts. Ends by its timer, by a wake-up or by a handoff.
   *
   * @param id identifies this back-off for its timer
   * @param endsAt by the clock's nanoseconds
   * @param timer ends it
   */
  record BackingOff(Object id, long endsAt, Scheduler.Task timer) implements Phase {
    /** Tells whether the time is over: the timer may run before this is the waiter's state. */
    boolean isOver(Clock clock) {
      return clock.nanos() - endsAt >= 0;
    }
  }

  /**
   * Ready for an attempt, but too many operations are in flight.
   *
   * @param consecutiveHandoffs of the handoff that woke the waiter
   * @param endOfWait ends the request when its wait is over
   */
  record AwaitingPermit(int consecutiveHandoffs, Scheduler.Task endOfWait) implements Phase {
    @Override
    public AwaitingPermit woken(int handoffs) {
      return new AwaitingPermit(handoffs, endOfWait);
    }
  }

  /** Returns the progress of the attempt in flight, or one without an outage if there is none. */
  AttemptProgress progress() {
    return phase instanceof Attempting attempting ? attempting.progress() : new AttemptProgress();
  }

  /**
   * Returns what a waiter reports whose wait ended in this state. A waiter that made no attempt of
   * its own reports the attempt of the head of its queue.
   *
   * @param ofHead null if the head has not failed yet
   * @param waitNanos the longest wait, for the message
   */
  @SuppressWarnings("ReferenceEquality") // an attempt may fail with the same votes
  AttemptFailure reported(@Nullable AttemptFailure ofHead, String name, long waitNanos) {
    if (phase instanceof BackingOff || failure != Contended.UNTRIED) {
      return failure;
    }
    return Objects.requireNonNullElseGet(
        ofHead,
        () -> phase instanceof AwaitingPermit ? Outage.overloaded(name, waitNanos) : failure);
  }

  WaiterState withPhase(Phase next) {
    return new WaiterState(next, notifications, failure);
  }

  WaiterState withNotifications(NotificationBackoff next) {
    return new WaiterState(phase, next, failure);
  }

  WaiterState withFailure(AttemptFailure next) {
    return new WaiterState(phase, notifications, next);
  }
}
