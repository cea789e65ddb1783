package dev.holdfast.core;

import dev.holdfast.HeldLock;
import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.GrantState.Held;
import dev.holdfast.core.GrantState.Lost;
import dev.holdfast.core.GrantState.Released;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one grant: held until the end of its validity, then released or lost, and
 * nothing after that. Extensions follow one another. A release waits for none: it is sent behind
 * the extension in flight, and ends it. Safe for use by many threads.
 */
final class LeaseState {
  private final ManagerContext context;
  private final ActiveLeases leases;
  private final Grant grant;
  private final Handoff handoff;
  private final ClockReading grantedAt;
  private final @Nullable ClockReading holdLimit;
  private final LockRequest request;
  private final @Nullable KeepAlive keepAlive;
  private final AtomicReference<GrantState> state;
  private final SerialExecutor extensions = new SerialExecutor();
  private final TimerSlot expiry = new TimerSlot();
  private final LossStage lossStage;
  private final @Nullable LeaseEvents events;

  LeaseState(
      ManagerContext context,
      ActiveLeases leases,
      LockRequest request,
      Grant grant,
      int handoffs,
      @Nullable LeaseEvents events) {
    this.handoff = new Handoff(leases.queues(), grant.name(), handoffs);
    this.context = context;
    this.leases = leases;
    this.grant = grant;
    this.grantedAt = context.clock().now();
    this.holdLimit =
        request.keepAliveUpTo().map(hold -> grantedAt.plusNanos(Nanos.of(hold))).orElse(null);
    this.request = request;
    this.events = events;
    this.keepAlive = holdLimit == null ? null : new KeepAlive(context, this, request.ttl());
    this.state = new AtomicReference<>(new Held(grant.validUntil(), LossReason.EXPIRED));
    this.lossStage = new LossStage(context);
  }

  Grant grant() {
    return grant;
  }

  /** Returns the events of this lease; null if nothing is reported of it. */
  @Nullable LeaseEvents events() {
    return events;
  }

  /** Returns the state without a look at the clock; see {@link #expireIfDue}. */
  GrantState current() {
    return Objects.requireNonNull(state.get());
  }

  /**
   * Loses the grant if its validity is over. Called before every look at the state, so that no
   * extension in flight, and no clock that is set back, revives a lease that a caller saw lost.
   */
  void expireIfDue() {
    while (current() instanceof Held held && nanosLeft(held) <= 0) {
      lose(held, held.reasonIfItExpires(), held.validUntil());
    }
  }

  private GrantState expired() {
    expireIfDue();
    return current();
  }

  private long nanosLeft(Held held) {
    return context.clock().now().nanosUntil(held.validUntil());
  }

  Duration remaining() {
    return expired() instanceof Held held
        ? Duration.ofNanos(Math.max(0, nanosLeft(held)))
        : Duration.ZERO;
  }

  boolean isHeld() {
    return expired() instanceof Held;
  }

  void requireHeld() {
    GrantState now = expired();
    if (!(now instanceof Held)) {
      throw ended(now);
    }
  }

  /** Returns the lock as operators see it; empty unless it is held. */
  Optional<HeldLock> shown() {
    return expired() instanceof Held held
        ? Optional.of(
            new HeldLock(
                grant.name(),
                request.ownerLabel().orElse(context.defaultOwner()),
                grantedAt.instant(),
                Duration.ofNanos(Math.max(0, nanosLeft(held))),
                Optional.ofNullable(holdLimit).map(ClockReading::instant)))
        : Optional.empty();
  }

  /** Returns the future of the loss; it never completes for a lock that is released. */
  LossStage onLoss() {
    return lossStage;
  }

  /** Returns whether no extension can move the end any more, because of {@code keepAliveUpTo}. */
  boolean isAtLimit() {
    return current() instanceof Held held && held.isAtLimit();
  }

  /**
   * Starts the renewals, if the request asks for them.
   *
   * @param lease what the user holds
   * @param attemptedAt when the attempt began, by the clock's nanoseconds
   */
  void keepAlive(DefaultLease lease, long attemptedAt) {
    if (keepAlive != null) {
      keepAlive.start(lease, attemptedAt);
    }
  }

  /** Watches for the end of validity, which may be nearer than the timer that is set is. */
  void watch() {
    if (expired() instanceof Held held) {
      expiry.set(context.scheduler().watch(nanosLeft(held), this::watch));
    }
  }

  /**
   * Extends to at least this from now, but not past {@code keepAliveUpTo}. The result is there at
   * the latest when the lease ends.
   */
  CompletableFuture<Void> extend(Duration ttl) {
    context.operations().begin();
    CompletableFuture<Void> result =
        extensions.execute(
            mine -> context.whenPermitted(mine, false, callerWaits -> extendWithinHold(ttl)));
    if (!(current() instanceof Held)) {
      failExtensions();
    }
    return result;
  }

  private CompletableFuture<Void> extendWithinHold(Duration ttl) {
    Duration asked = withinHold(ttl);
    boolean isLimited = asked.compareTo(ttl) < 0;
    if (asked.toMillis() <= 0 && expired() instanceof Held) {
      if (isLimited) {
        updateHeld(Held::atLimit);
      }
      return CompletableFuture.completedFuture(null);
    }
    return sendExtension(asked)
        .handle(
            (extension, failure) -> {
              onExtensionAnswered(extension, failure, isLimited);
              return null;
            });
  }

  /** Takes the monitor that {@link #awaitExtensionSent} takes: no extension follows a release. */
  private synchronized CompletableFuture<Extension> sendExtension(Duration asked) {
    GrantState now = expired();
    if (!(now instanceof Held)) {
      return CompletableFuture.failedFuture(ended(now));
    }
    if (keepAlive != null) {
      updateHeld(Held::perhapsUnreachable);
    }
    return Futures.start(() -> context.primitive().extend(grant, asked));
  }

  /** Called once the grant has ended: waits until an extension that is being sent is sent. */
  private synchronized void awaitExtensionSent() {
    // it was sent under this monitor, and none is sent any more
  }

  private void onExtensionAnswered(
      @Nullable Extension extension, @Nullable Throwable failure, boolean isLimited) {
    while (expired() instanceof Held held) {
      if (failure != null) {
        updateHeld(Held::perhapsUnreachable);
        throw Futures.unchecked(failure);
      }
      if (extension instanceof LockPrimitive.Lost lost) {
        lose(held, lost.reason(), context.clock().now());
      } else if (extension instanceof Extended longer) {
        ClockReading end = withinHold(longer.validUntil());
        boolean atLimit = isLimited || !end.equals(longer.validUntil());
        if (state.compareAndSet(held, held.extended(later(held, end), atLimit))) {
          return;
        }
      }
    }
    throw ended(current()); // an extension that its lease's own end cuts short is no outage
  }

  private ClockReading later(Held held, ClockReading end) {
    ClockReading now = context.clock().now();
    return now.nanosUntil(end) > now.nanosUntil(held.validUntil()) ? end : held.validUntil();
  }

  /** The end of an extension that may have been sent later than its ttl was limited. */
  private ClockReading withinHold(ClockReading end) {
    return holdLimit == null ? end : end.earlier(holdLimit);
  }

  private Duration withinHold(Duration ttl) {
    if (holdLimit == null) {
      return ttl;
    }
    long left = context.clock().now().nanosUntil(holdLimit);
    return left < Nanos.of(ttl) ? Duration.ofNanos(Math.max(0, left)) : ttl;
  }

  private void updateHeld(UnaryOperator<Held> change) {
    state.updateAndGet(now -> now instanceof Held held ? change.apply(held) : now);
  }

  private void failExtensions() {
    extensions.failAll(() -> ended(current()));
  }

  CompletableFuture<Boolean> release(boolean callerWaits) {
    while (true) {
      GrantState now = expired();
      if (now instanceof Released released) {
        return released.result();
      }
      if (now instanceof Lost lost) {
        if (events != null) {
          events.overrun(nanosSince(lost.since()));
        }
        return CompletableFuture.completedFuture(false);
      }
      Released released = new Released(new CompletableFuture<>());
      if (state.compareAndSet(now, released)) {
        stop();
        noteRelease();
        failExtensions();
        CompletableFuture<LockPrimitive.Released> sent =
            releaseKeys(request.holdAtLeast(), callerWaits);
        leases.onEnded(this); // after the sending: a manager that closes waits for the last lease
        sent.whenComplete((answer, failure) -> onReleased(released, answer, failure));
        return released.result();
      }
    }
  }

  /** Releases a grant that no caller took, even if its manager has been closed since. */
  void releaseUnclaimed() {
    state.set(new Released(CompletableFuture.completedFuture(true)));
    stop();
    noteRelease();
    failExtensions();
    CompletableFuture<LockPrimitive.Released> sent = releaseKeys(Duration.ZERO, false);
    leases.onEnded(this);
    LeaseEvents reported = events;
    if (reported != null) {
      sent.whenComplete((answer, failure) -> reported.released(answer != null));
    }
  }

  /** Ends the lease of a closed manager. Its keys stay, because the holder may still be at work. */
  void close() {
    while (expired() instanceof Held held) {
      lose(held, LossReason.CLOSED, context.clock().now());
    }
  }

  private void onReleased(
      Released released, LockPrimitive.@Nullable Released answer, @Nullable Throwable failure) {
    if (answer == null) {
      tellEnd(false, Optional.empty());
      released.result().completeExceptionally(Futures.cause(Objects.requireNonNull(failure)));
      return;
    }
    Optional<LossReason> loss = answer.loss();
    loss.ifPresent(reason -> state.set(new Lost(reason, context.clock().now())));
    tellEnd(true, loss);
    released.result().complete(loss.isEmpty());
  }

  private void lose(Held held, LossReason reason, ClockReading since) {
    context.operations().begin(); // first, because a manager that closes waits for the release
    if (!state.compareAndSet(held, new Lost(reason, since))) {
      context.operations().end();
      return;
    }
    stop();
    if (events != null) {
      events.onLoss(since.nanosSince(grantedAt));
    }
    context.scheduler().fork(() -> lossStage.lose(reason));
    if (!extensions.isIdle()) {
      context.scheduler().fork(this::failExtensions); // as many as a user asked for
    }
    if (reason == LossReason.CLOSED) {
      leases.onEnded(this);
      context.operations().end();
      tellEnd(true, Optional.of(reason));
    } else {
      context.scheduler().schedule(0, this::releaseAfterLoss);
    }
  }

  /** Runs on a thread of ours: a caller that looks at a lease waits for no backend. */
  private void releaseAfterLoss() {
    CompletableFuture<LockPrimitive.Released> sent = releaseKeys(request.holdAtLeast(), false);
    leases.onEnded(this); // after the sending, as above
    context.operations().end();
    LeaseEvents reported = events;
    if (reported != null && current() instanceof Lost lost) {
      sent.whenComplete((answer, failure) -> reported.lost(lost.reason()));
    }
  }

  private void noteRelease() {
    if (events != null) {
      events.onRelease(nanosSince(grantedAt));
    }
  }

  private void tellEnd(boolean confirmed, Optional<LossReason> loss) {
    LeaseEvents reported = events;
    if (reported != null) {
      loss.ifPresentOrElse(reported::lost, () -> reported.released(confirmed));
    }
  }

  private long nanosSince(ClockReading earlier) {
    return context.clock().now().nanosSince(earlier);
  }

  private void stop() {
    expiry.stop();
    if (keepAlive != null) {
      keepAlive.stop();
    }
  }

  /** Releases the keys; also after a loss, so that what is left of them keeps no one out. */
  private CompletableFuture<LockPrimitive.Released> releaseKeys(
      Duration atLeast, boolean callerWaits) {
    CompletableFuture<LockPrimitive.Released> result = new CompletableFuture<>();
    context.operations().begin();
    context.whenPermitted(result, callerWaits, waiting -> sendRelease(atLeast, waiting));
    return result;
  }

  private CompletableFuture<LockPrimitive.Released> sendRelease(
      Duration atLeast, boolean callerWaits) {
    awaitExtensionSent();
    long left = Nanos.of(atLeast) - (context.clock().nanos() - grantedAt.nanos());
    Duration keep = Duration.ofNanos(Math.max(0, left));
    BiFunction<Boolean, Boolean, CompletableFuture<LockPrimitive.Released>> release =
        (handsOver, waits) ->
            Futures.start(
                () ->
                    context
                        .primitive()
                        .release(new LockPrimitive.Release(grant, keep, handsOver, waits)));
    return keep.isZero()
        ? handoff.during(callerWaits, release)
        : release.apply(false, callerWaits); // no waiter can have it yet
  }

  private RuntimeException ended(GrantState now) {
    return now instanceof Lost lost
        ? new LockLostException(grant.name(), lost.reason())
        : new IllegalStateException("the lease on '" + grant.name() + "' was released");
  }
}
