package dev.holdfast.core;

import dev.holdfast.LockListener;
import dev.holdfast.LockListener.Renewal;
import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import dev.holdfast.core.GrantState.Lost;
import dev.holdfast.core.LockPrimitive.Grant;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The events of one lease, reported in the order in which they occurred. One thread reports at a
 * time: an event that occurs during a call follows it, on the same thread. The monitor guards the
 * order alone, and is free during calls. Exists only if there was a listener, or a recording, when
 * the request began. A listener that was added later learns of nothing here.
 */
final class LeaseEvents implements LeaseReport {
  private final Clock clock;
  private final Listeners.Audience listeners;
  private final String name;
  private final long id;
  private final Queue<Consumer<LockListener>> events = new ArrayDeque<>();
  private boolean isReporting;
  private boolean isGranted;
  private boolean isEnded;
  private boolean isReleased;
  private boolean hasOverrun;
  private @Nullable ClockReading grantedAt;

  private long heldNanos;
  private Flight.Span span = Flight.Span.NONE;
  private @Nullable Long renewalBegunAt;

  LeaseEvents(Clock clock, Listeners.Audience listeners, long id, String name) {
    this.clock = clock;
    this.listeners = listeners;
    this.name = name;
    this.id = id;
  }

  /** Notes the grant. Without one, no event of this lease is reported. */
  @Override
  public synchronized void granted(Grant grant, ClockReading at, long waitedNanos) {
    isGranted = true;
    grantedAt = at;
    span = Flight.RECORDER.hold(name, id);
    events.add(
        listener -> listener.onGranted(name, id, waitedNanos, grant.votes(), grant.margin()));
  }

  @Override
  public synchronized void onRelease() {
    isReleased = true;
    heldNanos = heldUntil(clock.now());
  }

  @Override
  public synchronized void onLoss(Grant grant, ClockReading at, Lost lost) {
    heldNanos = heldUntil(lost.since());
  }

  private long heldUntil(ClockReading end) {
    return grantedAt == null ? 0 : end.nanosSince(grantedAt);
  }

  @Override
  public synchronized void renewalBegun() {
    renewalBegunAt = clock.nanos();
  }

  /**
   * Reports the outcome of the renewal in flight, unless the end of the lease has done so, or a
   * release has cut the renewal short.
   */
  @Override
  public void renewalEnded(@Nullable Throwable failure, boolean isHeld) {
    Throwable cause = failure == null ? null : Futures.cause(failure);
    synchronized (this) {
      // The second if a release or a transfer has begun, and is about to say so here.
      if (isReleased || (!isHeld && cause instanceof IllegalStateException)) {
        renewalBegunAt = null;
      } else {
        addRenewal(
            cause == null
                ? Renewal.EXTENDED
                : cause instanceof LockLostException ? Renewal.LOST : Renewal.OUTAGE);
      }
    }
    drain();
  }

  /** Reports that the lease was released, unless it has ended. */
  @Override
  public void released(boolean confirmed) {
    end(
        confirmed ? "RELEASED" : "UNCONFIRMED",
        null,
        listener -> listener.onReleased(name, id, heldNanos(), confirmed));
  }

  /** Reports that the lease was transferred, unless it has ended. */
  @Override
  public void transferred() {
    end("TRANSFERRED", null, listener -> listener.onTransferred(name, id, heldNanos()));
  }

  /** Reports the loss of the lease, unless it has ended, and the failure of a renewal in flight. */
  @Override
  public void lost(LossReason reason) {
    boolean isFirst =
        end("LOST", Renewal.LOST, listener -> listener.onLost(name, id, reason, heldNanos()));
    if (isFirst) {
      Flight.RECORDER.lost(name, id, reason.name(), heldNanos());
    }
  }

  private synchronized long heldNanos() {
    return heldNanos;
  }

  @Override
  public void answered(Grant grant, ClockReading at, GrantState end) {
    if (end instanceof Lost lost) {
      lost(lost.reason());
    } else {
      released(true);
    }
  }

  @Override
  public void releasedOnceAnswered(CompletableFuture<LockPrimitive.Released> release) {
    release.whenComplete((answer, failure) -> released(answer != null));
  }

  @Override
  public void lostOnceAnswered(
      LossReason reason, CompletableFuture<LockPrimitive.Released> release) {
    release.whenComplete((answer, failure) -> lost(reason));
  }

  /** Reports an overrun once, and none of a lease that a holder released in time. */
  @Override
  public void overrun(ClockReading lostSince) {
    synchronized (this) {
      if (!isGranted || isReleased || hasOverrun) {
        return;
      }
      hasOverrun = true;
      long overrunNanos = clock.now().nanosSince(lostSince);
      events.add(listener -> listener.onOverrun(name, id, overrunNanos));
    }
    drain();
  }

  private boolean end(
      String outcomeOfHold, @Nullable Renewal outcome, Consumer<LockListener> event) {
    synchronized (this) {
      if (!isGranted || isEnded) {
        return false;
      }
      if (outcome != null) {
        addRenewal(outcome);
      }
      isEnded = true;
      events.add(event);
      span.end(outcomeOfHold);
    }
    drain();
    return true;
  }

  private void addRenewal(Renewal outcome) {
    Long begunAt = renewalBegunAt;
    renewalBegunAt = null;
    if (begunAt != null && isGranted && !isEnded) {
      long took = clock.nanos() - begunAt;
      events.add(listener -> listener.onRenewal(name, id, outcome, took));
    }
  }

  @Override
  public void drain() {
    synchronized (this) {
      if (isReporting) {
        return;
      }
      isReporting = true;
    }
    Consumer<LockListener> next = next();
    while (next != null) {
      listeners.report(next);
      next = next();
    }
  }

  private synchronized @Nullable Consumer<LockListener> next() {
    Consumer<LockListener> next = events.poll();
    isReporting = next != null;
    return next;
  }
}
