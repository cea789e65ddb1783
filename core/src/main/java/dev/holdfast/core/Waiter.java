package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.AttemptFailure.Contended;
import dev.holdfast.core.AttemptFailure.Outage;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import dev.holdfast.core.WaiterState.Attempting;
import dev.holdfast.core.WaiterState.AwaitingPermit;
import dev.holdfast.core.WaiterState.BackingOff;
import dev.holdfast.core.WaiterState.Done;
import dev.holdfast.core.WaiterState.Phase;
import dev.holdfast.core.WaiterState.Queued;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One caller's request for one lock, from queueing to result. Every transition is a compare-and-set
 * on the state, and the thread that wins it performs the transition. Safe for use by many threads.
 */
final class Waiter {
  private final ManagerContext context;
  private final WaitQueues queues;
  private final ActiveLeases leases;
  private final LockRequest request;
  private final WaitLimit wait;
  private final CompletableFuture<Optional<Lease>> result;
  private final AtomicWaiterState state = new AtomicWaiterState();

  Waiter(
      ManagerContext context,
      WaitQueues queues,
      ActiveLeases leases,
      LockRequest request,
      Duration wait) {
    this.context = context;
    this.queues = queues;
    this.leases = leases;
    this.request = request;
    this.wait = WaitLimit.startingNow(context.clock(), Nanos.of(wait));
    this.result = ReportedResult.of(context, request.name(), this.wait);
  }

  String name() {
    return request.name();
  }

  /** Returns whether the caller is willing to wait at all. */
  boolean waits() {
    return wait.waits();
  }

  CompletableFuture<Optional<Lease>> result() {
    return result;
  }

  /** Waits for the result. See {@link WaitLimit#await}. */
  Optional<Lease> await() throws InterruptedException, ExecutionException {
    return wait.await(result, this::timeOut);
  }

  /** Returns why the last attempt failed. */
  AttemptFailure failure() {
    return state.get().failure();
  }

  /** Returns how long the caller has waited. */
  Duration waited() {
    return Duration.ofNanos(wait.waited());
  }

  /** Queues the waiter, begins an attempt if it is the head, and returns the result. */
  CompletableFuture<Optional<Lease>> start() {
    try {
      enterQueue();
    } catch (RuntimeException | Error e) {
      fail(e); // the caller would not take a later grant
    }
    return result;
  }

  private void enterQueue() {
    if (queues.enter(this) == WaitQueues.Position.HEAD) {
      atHead();
    } else if (!waits()) {
      timeOut();
    }
    if (wait.isFinite() && state.phase() instanceof Queued) {
      Scheduler.Task end = atEndOfWait();
      result.whenComplete((lease, failure) -> end.cancel());
    }
  }

  /** Starts the first attempt: the waiter has become the head of its queue. */
  void onHead() {
    try {
      if (!wait.isOver()) { // else its own timer is due, and ends the wait on a stack of its own
        atHead();
      }
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private void atHead() {
    boolean backsOff = backsOffFirst();
    if (!backsOff && !context.limiter().hasPermitForAttempt()) {
      awaitPermit(Queued.QUEUED, 0);
    } else if (state.enter(Queued.QUEUED, new Attempting())) {
      if (backsOff) { // decided again, because a wake-up before this phase is not remembered
        backOff(leases.isHeldLocally(name()) ? context.retryDelayNanos() : 0);
      } else {
        attempt(0);
      }
    }
  }

  /**
   * Returns whether to begin with a back-off: while this manager holds the lock an attempt would
   * most likely be refused, and the release hands the lock off to a waiter that backs off. A waiter
   * without the time for a back-off makes an attempt.
   */
  private boolean backsOffFirst() {
    return leases.isHeldLocally(name()) && wait.left() > context.retryDelayNanos();
  }

  private void awaitPermit(Phase from, int consecutiveHandoffs) {
    Scheduler.Task end = wait.isFinite() ? atEndOfWait() : WaiterState.NO_TASK;
    if (state.enter(from, new AwaitingPermit(consecutiveHandoffs, end))) {
      context.limiter().enqueueAttempt(this::onPermit);
    } else {
      end.cancel();
    }
  }

  private void onPermit() {
    boolean isBegun = false;
    while (!isBegun
        && state.phase() instanceof AwaitingPermit waiting // another one after a wake-up
        && !(waits() && wait.isOver())) { // then its own timer is due
      isBegun = attemptFrom(waiting, waiting.consecutiveHandoffs());
    }
  }

  private boolean attemptFrom(Phase from, int consecutiveHandoffs) {
    boolean entered = state.enter(from, new Attempting());
    if (entered) {
      attempt(consecutiveHandoffs);
    }
    return entered;
  }

  private Scheduler.Task atEndOfWait() {
    return context.scheduler().schedule(wait.left(), this::timeOut);
  }

  /**
   * Tries now, or once more after the attempt in flight, because the lock may be free.
   *
   * @param consecutiveHandoffs how many consecutive handoffs this queue has had, this one included
   */
  void wake(int consecutiveHandoffs) {
    while (true) {
      Phase now = state.phase();
      if (now instanceof BackingOff backoff) {
        if (endBackoff(backoff, consecutiveHandoffs)) {
          return;
        }
      } else if (state.replace(now, now.woken(consecutiveHandoffs))) {
        return;
      }
    }
  }

  /**
   * Tries after a short random delay, because another process has released the lock. The delay
   * keeps the notified waiters of all processes from splitting the votes. If an attempt is in
   * flight, the next one follows it.
   */
  void onReleaseNotified() {
    WaiterState before = state.onNotified();
    if (before.phase() instanceof BackingOff backoff) {
      shortenBackoff(backoff, before.notifications().delayNanos());
    }
  }

  /** Ends the back-off, if there is one, for an attempt that the caller has yet to start. */
  boolean claim() {
    Phase now = state.phase();
    boolean idle = now instanceof BackingOff || now instanceof AwaitingPermit;
    return idle && !result.isDone() && !wait.isOver() && state.enter(now, new Attempting());
  }

  /**
   * Lets waiters of other managers have an attempt first.
   *
   * @param others how many other managers wait
   */
  void yieldTo(int others) {
    state.update(now -> now.withNotifications(now.notifications().yieldTo(others)));
    if (claim()) {
      backOff(NotificationBackoff.YIELD_NANOS);
    } else {
      wake(0);
    }
  }

  /** Returns the outage that the attempt in flight is in so far, or null if it is in none. */
  @Nullable LockException outageSoFar() {
    return state.get().progress().outage();
  }

  /** Returns whether the waiter got the lock. */
  boolean isGranted() {
    return state.phase() == Done.GRANTED;
  }

  /** Ends the request of a caller that gives up. */
  void abandon(Throwable failure) {
    ReportedResult.abandon(result);
    discard(failure);
  }

  /** Ends the request: a lock that was granted, or will be, is released. */
  void discard(Throwable failure) {
    if (!refuse(failure)) {
      result.thenAccept(DefaultLease::releaseUnclaimed);
    }
  }

  /** Ends the request unless it has a result. A lock that was granted before stays granted. */
  boolean refuse(Throwable failure) {
    if (!result.completeExceptionally(failure)) {
      return false;
    }
    if (state.finishIdle() != null) {
      queues.leave(this);
    }
    return true;
  }

  /**
   * Makes an attempt. Called by the thread that made the waiter {@link Attempting}.
   *
   * @param consecutiveHandoffs how many consecutive handoffs led to this attempt, 0 if none did
   */
  void attempt(int consecutiveHandoffs) {
    Attempt attempt =
        new Attempt(
            name(),
            request.ownerLabel().orElse(context.defaultOwner()),
            request.ttl(),
            state.get().progress());
    long attemptedAt;
    try {
      attemptedAt = context.clock().nanos();
    } catch (RuntimeException | Error e) {
      fail(e);
      return;
    }
    context
        .attempt(attempt)
        .whenComplete(
            (outcome, failure) -> {
              try {
                onAttempted(attempt, outcome, failure, consecutiveHandoffs, attemptedAt);
              } catch (RuntimeException | Error e) {
                fail(e);
              } finally {
                context.onAttempted(outcome, failure);
                context.limiter().releasePermit();
                context.operations().end();
              }
            });
  }

  private void onAttempted(
      Attempt attempt,
      @Nullable Outcome outcome,
      @Nullable Throwable failure,
      int consecutiveHandoffs,
      long attemptedAt) {
    if (outcome instanceof Grant grant) {
      onGranted(grant, consecutiveHandoffs, attemptedAt);
    } else if (outcome instanceof Refusal refusal) {
      onFailed(new Contended(refusal.votes()), true);
    } else if (failure != null && Futures.cause(failure) instanceof LockOutageException outage) {
      onFailed(new Outage(outage), !attempt.progress().isLimitedByTtl());
    } else {
      fail(Futures.cause(Objects.requireNonNull(failure)));
    }
  }

  private void onGranted(Grant grant, int consecutiveHandoffs, long attemptedAt) {
    DefaultLease lease = leases.open(request, grant, consecutiveHandoffs, attemptedAt, result);
    queues.remember(name(), Contended.UNTRIED);
    end(Done.GRANTED);
    if (leases.closed() || !result.complete(Optional.of(lease))) {
      DefaultLease.releaseUnclaimed(Optional.of(lease));
      result.completeExceptionally(leases.refusal());
    }
  }

  /** Backs off, or ends the request. If {@code concernsOthers}, waiters behind report the same. */
  private void onFailed(AttemptFailure failure, boolean concernsOthers) {
    state.update(now -> now.withFailure(failure));
    if (concernsOthers) {
      queues.remember(name(), failure);
    }
    if (wait.isOver()) {
      end(Done.UNGRANTED).failure().completeRequest(result);
    } else {
      backOff(failure.backoffNanos(context.retryDelayNanos()));
      queues.subscribe(name(), context.primitive());
    }
  }

  /** Backs off after an attempt, for as long as what came during the attempt allows. */
  private void backOff(long maxNanos) {
    BackingOff backoff = backoffOf(maxNanos);
    Attempting attempting = (Attempting) state.leaveFor(backoff).phase();
    if (attempting.isWoken() || result.isDone() || backoff.isOver(context.clock())) {
      endBackoff(backoff, attempting.consecutiveHandoffs());
    } else if (attempting.notifiedDelayNanos() > 0) {
      shortenBackoff(backoff, attempting.notifiedDelayNanos());
    }
  }

  private BackingOff backoffOf(long maxNanos) {
    long delay = Math.max(0, Math.min(wait.left(), context.jitter(maxNanos)));
    long endsAt = context.clock().nanos() + delay;
    Object id = new Object();
    return new BackingOff(id, endsAt, context.scheduler().schedule(delay, () -> onTimer(id)));
  }

  private void onTimer(Object id) {
    if (state.phase() instanceof BackingOff backoff && backoff.id() == id) {
      endBackoff(backoff, 0);
    }
  }

  private void shortenBackoff(BackingOff backoff, long maxNanos) {
    BackingOff shorter = backoffOf(maxNanos);
    if (!state.shorten(backoff, shorter)) {
      shorter.timer().cancel();
    } else if (result.isDone() || shorter.isOver(context.clock())) {
      endBackoff(shorter, 0);
    }
  }

  /** Returns false if the waiter has left this back-off by then. */
  private boolean endBackoff(BackingOff backoff, int consecutiveHandoffs) {
    if (result.isDone() || wait.isOver()) {
      timeOut();
      return true;
    }
    if (context.limiter().hasPermitForAttempt()) {
      return attemptFrom(backoff, consecutiveHandoffs);
    }
    awaitPermit(backoff, consecutiveHandoffs);
    return state.phase() != backoff;
  }

  /** Ends the request because its wait is over. An attempt in flight is left to end by itself. */
  private void timeOut() {
    AttemptFailure ofHead = queues.lastFailure(name(), waits());
    WaiterState last = state.finishIdle();
    if (last != null) {
      queues.leave(this);
      AttemptFailure failure = last.reported(ofHead, name(), wait.nanos());
      state.update(now -> now.withFailure(failure));
      failure.completeRequest(result);
    }
  }

  /** Ends the request after an unexpected failure. The next waiter becomes the head. */
  private void fail(Throwable failure) {
    try {
      end(Done.UNGRANTED); // first, so that the caller's next request is not behind this one
    } finally {
      result.completeExceptionally(failure);
    }
  }

  private WaiterState end(Done done) {
    WaiterState last = state.leaveFor(done);
    queues.leave(this);
    return last;
  }
}
