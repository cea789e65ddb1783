package dev.holdfast.core;

import dev.holdfast.core.WaiterState.Attempting;
import dev.holdfast.core.WaiterState.AwaitingPermit;
import dev.holdfast.core.WaiterState.BackingOff;
import dev.holdfast.core.WaiterState.Done;
import dev.holdfast.core.WaiterState.Phase;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The transitions of a waiter. A transition that leaves a phase with a timer cancels the timer.
 * Safe for use by many threads. Exactly one thread wins each transition.
 */
final class AtomicWaiterState {
  private final AtomicReference<WaiterState> state = new AtomicReference<>(WaiterState.INITIAL);

  WaiterState get() {
    return Objects.requireNonNull(state.get());
  }

  Phase phase() {
    return get().phase();
  }

  /** Changes anything but the phase. */
  void update(UnaryOperator<WaiterState> change) {
    state.updateAndGet(change);
  }

  /** Notes a release notification, and returns the state before. */
  WaiterState onNotified() {
    return Objects.requireNonNull(
        state.getAndUpdate(
            now -> {
              WaiterState next = now.withNotifications(now.notifications().onNotified());
              return now.phase() instanceof Attempting attempting
                  ? next.withPhase(attempting.notified(now.notifications().delayNanos()))
                  : next;
            }));
  }

  /** Enters a phase. Returns false if the waiter is not in the phase that the transition leaves. */
  boolean enter(Phase from, Phase to) {
    boolean entered = replace(from, to);
    if (entered) {
      cancelTimer(from);
    }
    return entered;
  }

  /** Replaces a phase by one that keeps its timer. */
  boolean replace(Phase from, Phase to) {
    while (true) {
      WaiterState now = get();
      if (now.phase() != from) {
        return false;
      }
      if (state.compareAndSet(now, now.withPhase(to))) {
        return true;
      }
    }
  }

  /**
   * Replaces a back-off by a shorter one. Returns false if it is not shorter, or the old one has
   * ended.
   */
  boolean shorten(BackingOff from, BackingOff shorter) {
    if (shorter.endsAt() - from.endsAt() >= 0 || !enter(from, shorter)) {
      return false;
    }
    update(now -> now.withNotifications(now.notifications().onShortened()));
    return true;
  }

  /** Ends a waiter that makes no attempt. Returns its state before, or null if there is none. */
  @Nullable WaiterState finishIdle() {
    while (true) {
      WaiterState now = get();
      if (now.phase() instanceof Attempting || now.phase() instanceof Done) {
        return null;
      }
      if (state.compareAndSet(now, now.withPhase(Done.UNGRANTED))) {
        cancelTimer(now.phase());
        return now;
      }
    }
  }

  /** Replaces a phase that no other thread can end, and returns the state before. */
  WaiterState leaveFor(Phase next) {
    WaiterState before = Objects.requireNonNull(state.getAndUpdate(now -> now.withPhase(next)));
    cancelTimer(before.phase());
    return before;
  }

  private static void cancelTimer(Phase phase) {
    if (phase instanceof BackingOff backoff) {
      backoff.timer().cancel();
    } else if (phase instanceof AwaitingPermit waiting) {
      waiting.endOfWait().cancel();
    }
  }
}
