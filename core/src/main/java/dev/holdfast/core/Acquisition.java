package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
import dev.holdfast.core.Attempted.Contended;
import dev.holdfast.core.Attempted.Outage;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One caller's way to a lock: in line, attempting, pausing between attempts, done. Driven by
 * whoever brings the next event; the state says whose it is.
 */
final class Acquisition {
  /** Between two looks, once the time is up, at whether the last attempt is over. */
  private static final long SHORTEST_WAIT_NANOS = 10_000_000;

  /** What processes that wait for a notification need to hear it and to ask all nodes. */
  private static final long REST_NANOS = 5_000_000;

  private final Surroundings surroundings;
  private final WaitingLines lines;
  private final OpenLeases leases;
  private final LockRequest request;
  private final long waitNanos;
  private final long begunAt;
  private final CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
  private final AtomicReference<State> state = new AtomicReference<>(Step.IN_LINE);
  private volatile boolean woken;
  private volatile Attempted last = Contended.UNTRIED;

  /**
   * What an acquisition is doing. A pause is a state of its own, so that only its timer ends it.
   */
  private sealed interface State {}

  private enum Step implements State {
    IN_LINE,
    ATTEMPTING,
    DONE
  }

  private static final class Pause implements State {
    private volatile Scheduler.@Nullable Task timer;

    void cancel() {
      Scheduler.Task task = timer;
      if (task != null) {
        task.cancel();
      }
    }
  }

  Acquisition(
      Surroundings surroundings,
      WaitingLines lines,
      OpenLeases leases,
      LockRequest request,
      Duration wait) {
    this.surroundings = surroundings;
    this.lines = lines;
    this.leases = leases;
    this.request = request;
    this.waitNanos = Nanos.of(wait);
    this.begunAt = surroundings.clock().nanos();
  }

  String name() {
    return request.name();
  }

  boolean waits() {
    return waitNanos > 0;
  }

  CompletableFuture<Optional<Lease>> result() {
    return result;
  }

  /**
   * Waits for the result. The scheduler's timers end the wait, and this thread does, because the
   * scheduler may have been closed before.
   */
  Optional<Lease> await() throws InterruptedException, ExecutionException {
    while (waitNanos < Nanos.FOREVER) {
      try {
        long left = waitNanos - (surroundings.clock().nanos() - begunAt);
        return result.get(Math.max(left, SHORTEST_WAIT_NANOS), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        State now = now();
        if (waitedEnough() && (now == Step.IN_LINE || now instanceof Pause)) {
          giveUp(now);
        }
      }
    }
    return result.get();
  }

  /** What {@code acquire} throws where {@code tryAcquire} is empty. */
  LockUnavailableException unavailable() {
    Duration waited = Duration.ofNanos(surroundings.clock().nanos() - begunAt);
    Contended votes = last instanceof Contended contended ? contended : Contended.UNTRIED;
    return new LockUnavailableException(
        name(), votes.granted(), votes.refused(), votes.unanswered(), waited);
  }

  void start(boolean callerWaits) {
    if (lines.enter(this) == WaitingLines.Place.HEAD) {
      if (state.compareAndSet(Step.IN_LINE, Step.ATTEMPTING)) {
        attempt(callerWaits);
      }
    } else if (!waits()) {
      giveUp(Step.IN_LINE);
    } else if (waitNanos < Nanos.FOREVER) {
      Scheduler.Task end = surroundings.scheduler().schedule(waitNanos, () -> giveUp(Step.IN_LINE));
      result.whenComplete((lease, failure) -> end.cancel());
    }
  }

  /** Now at the head of the line. After a grant there is somebody to wait for first. */
  void turn(boolean afterGrant) {
    if (waitedEnough()) {
      return; // its own timer is due, and ends it on a stack of its own
    }
    if (state.compareAndSet(Step.IN_LINE, Step.ATTEMPTING)) {
      if (afterGrant) {
        pause(surroundings.retryDelayNanos());
      } else {
        attempt(false);
      }
    }
  }

  /** The lock may be free: tries now; if an attempt is under way, once more after it. */
  void wake() {
    woken = true;
    if (now() instanceof Pause pause) {
      resume(pause);
    }
  }

  /** Ends its pause, if it is in one, for an attempt that the caller has yet to start. */
  boolean claim() {
    State now = now();
    if (!(now instanceof Pause pause) || result.isDone() || waitedEnough()) {
      return false;
    }
    boolean claimed = state.compareAndSet(now, Step.ATTEMPTING);
    if (claimed) {
      pause.cancel();
    }
    return claimed;
  }

  /** After others have had a moment for an attempt of theirs. */
  void rest() {
    if (claim()) {
      pause(REST_NANOS);
    }
  }

  /** Ends it: nobody takes a lock that was granted, or will be, so that it is released. */
  void abandon(Throwable failure) {
    if (!refuse(failure)) {
      result.thenAccept(LeaseHandle::takeBack);
    }
  }

  /** Ends it unless it is over. Whoever was granted the lock before keeps it. */
  boolean refuse(Throwable failure) {
    if (!result.completeExceptionally(failure)) {
      return false;
    }
    State now = now();
    while (now != Step.DONE && now != Step.ATTEMPTING) {
      if (finish(now)) {
        lines.leave(this, false);
        return true;
      }
      now = now();
    }
    return true;
  }

  /** By whoever made it attempting. */
  void attempt(boolean callerWaits) {
    woken = false;
    surroundings.operations().begin();
    Attempt attempt =
        new Attempt(
            name(),
            request.owner().orElse(surroundings.defaultOwner()),
            request.ttl(),
            callerWaits);
    Stages.start(() -> surroundings.primitive().attempt(attempt))
        .whenComplete(
            (outcome, failure) -> {
              try {
                attempted(outcome, failure);
              } finally {
                surroundings.operations().end();
              }
            });
  }

  private void attempted(@Nullable Outcome outcome, @Nullable Throwable failure) {
    if (outcome instanceof Grant grant) {
      granted(grant);
    } else if (outcome instanceof Refusal refusal) {
      again(new Contended(refusal.granted(), refusal.refused(), refusal.unanswered()));
    } else if (failure != null && Stages.cause(failure) instanceof LockBackendException outage) {
      again(new Outage(outage));
    } else {
      end(false);
      result.completeExceptionally(Stages.cause(Objects.requireNonNull(failure)));
    }
  }

  private void granted(Grant grant) {
    LeaseHandle lease = leases.open(request, grant);
    lines.remember(name(), Contended.UNTRIED);
    end(true);
    if (leases.closed() || !result.complete(Optional.of(lease))) {
      LeaseHandle.takeBack(Optional.of(lease));
      result.completeExceptionally(leases.refusal());
    }
  }

  private void again(Attempted attempted) {
    last = attempted;
    lines.remember(name(), attempted);
    if (waitedEnough()) {
      giveUp(Step.ATTEMPTING);
    } else {
      pause(surroundings.retryDelayNanos());
    }
  }

  private void pause(long longest) {
    Pause pause = new Pause();
    state.set(pause);
    long left = waitNanos - (surroundings.clock().nanos() - begunAt);
    long delay = Math.min(left, surroundings.jitter(longest));
    pause.timer = surroundings.scheduler().schedule(delay, () -> resume(pause));
    if (woken || result.isDone()) {
      resume(pause);
    }
  }

  private void resume(Pause pause) {
    if (result.isDone() || waitedEnough()) {
      giveUp(pause);
    } else if (state.compareAndSet(pause, Step.ATTEMPTING)) {
      pause.cancel();
      attempt(false);
    }
  }

  private State now() {
    return Objects.requireNonNull(state.get());
  }

  private boolean waitedEnough() {
    return surroundings.clock().nanos() - begunAt >= waitNanos;
  }

  /** The wait is over: what the last attempt saw, one's own or the head's, is the answer. */
  private void giveUp(State from) {
    if (from == Step.IN_LINE) {
      Attempted seen = lines.last(name());
      last = seen == null ? last : seen;
    }
    if (!finish(from)) {
      return;
    }
    lines.leave(this, false);
    if (last instanceof Outage outage) {
      result.completeExceptionally(outage.failure());
    } else {
      result.complete(Optional.empty());
    }
  }

  private void end(boolean granted) {
    state.set(Step.DONE);
    lines.leave(this, granted);
  }

  private boolean finish(State from) {
    if (!state.compareAndSet(from, Step.DONE)) {
      return false;
    }
    if (from instanceof Pause pause) {
      pause.cancel();
    }
    return true;
  }
}
