package dev.holdfast.core;

import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Release;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
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
  private final HoldLimit holdLimit;
  private final @Nullable KeepAlive keepAlive;
  private final AtomicReference<State> state;
  private final SerialExecutor extensions = new SerialExecutor();
  private final TimerSlot expiry = new TimerSlot();
  private final LossStage lossStage;

  /** The state of a grant. Immutable. */
  sealed interface State {}

  /**
   * The grant is held.
   *
   * @param validUntil the end of validity if nothing extends it
   * @param reasonIfItExpires the reason of the loss at that time
   * @param keptUntil until when a release keeps other owners out, by the clock's nanoseconds
   */
  record Held(ClockReading validUntil, LossReason reasonIfItExpires, long keptUntil)
      implements State {
    /** Returns the state while it is not known whether a quorum can be reached. */
    Held perhapsUnreachable() {
      return isAtLimit() ? this : new Held(validUntil, LossReason.UNREACHABLE, keptUntil);
    }

    Held extended(ClockReading end, boolean atLimit) {
      LossReason reason = atLimit || isAtLimit() ? LossReason.MAX_HOLD : LossReason.EXPIRED;
      return new Held(end, reason, keptUntil);
    }

    /** Returns the state once no extension can move the end any more. */
    Held atLimit() {
      return new Held(validUntil, LossReason.MAX_HOLD, keptUntil);
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
  record Released(CompletableFuture<Boolean> result) implements State {}

  /** The grant is lost. */
  record Lost(LossReason reason, ClockReading since) implements State {}

  LeaseState(
      ManagerContext context, ActiveLeases leases, LockRequest request, Grant grant, int handoffs) {
    this.handoff = new Handoff(leases.queues(), grant.name(), handoffs);
    this.context = context;
    this.leases = leases;
    this.grant = grant;
    ClockReading grantedAt = context.clock().now();
    this.holdLimit = HoldLimit.of(context.clock(), request, grantedAt);
    this.keepAlive = holdLimit.isSet() ? new KeepAlive(context, this, request.ttl()) : null;
    long keptUntil = grantedAt.nanos() + Nanos.of(request.holdAtLeast());
    this.state = new AtomicReference<>(new Held(grant.validUntil(), LossReason.EXPIRED, keptUntil));
    this.lossStage = new LossStage(context);
  }

  Grant grant() {
    return grant;
  }

  /** Returns the state without a look at the clock; see {@link #expireIfDue}. */
  State current() {
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

  private State expired() {
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
    State now = expired();
    if (!(now instanceof Held)) {
      throw ended(now);
    }
  }

  /** Sets the time for which a release keeps other owners out, from now. */
  void holdAtLeast(Duration minimum) {
    long until = context.clock().nanos() + Nanos.of(minimum);
    updateHeld(held -> new Held(held.validUntil(), held.reasonIfItExpires(), until));
    requireHeld();
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
            mine -> whenPermitted(mine, false, callerWaits -> extendWithinHold(ttl)));
    if (!(current() instanceof Held)) {
      failExtensions();
    }
    return result;
  }

  private CompletableFuture<Void> extendWithinHold(Duration ttl) {
    Duration asked = holdLimit.limit(ttl);
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
    State now = expired();
    if (!(now instanceof Held)) {
      return CompletableFuture.failedFuture(ended(now));
    }
    if (keepAlive != null) {
      updateHeld(Held::perhapsUnreachable);
    }
    return Futures.start(() -> primitive().extend(grant, asked));
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
        ClockReading end = holdLimit.limit(longer.validUntil());
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

  private void updateHeld(UnaryOperator<Held> change) {
    state.updateAndGet(now -> now instanceof Held held ? change.apply(held) : now);
  }

  private void failExtensions() {
    extensions.failAll(() -> ended(current()));
  }

  CompletableFuture<Boolean> release(boolean callerWaits) {
    while (true) {
      State now = expired();
      if (now instanceof Released released) {
        return released.result();
      }
      if (!(now instanceof Held held)) {
        return CompletableFuture.completedFuture(false);
      }
      Released released = new Released(new CompletableFuture<>());
      if (state.compareAndSet(held, released)) {
        stop();
        failExtensions();
        CompletableFuture<LockPrimitive.Released> sent = releaseKeys(held, callerWaits);
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
    failExtensions();
    releaseKeys(null, false);
    leases.onEnded(this);
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
      released.result().completeExceptionally(Futures.cause(Objects.requireNonNull(failure)));
      return;
    }
    Optional<LossReason> loss = answer.loss();
    loss.ifPresent(reason -> state.set(new Lost(reason, context.clock().now())));
    released.result().complete(loss.isEmpty());
  }

  private void lose(Held held, LossReason reason, ClockReading since) {
    context.operations().begin(); // first, because a manager that closes waits for the release
    if (!state.compareAndSet(held, new Lost(reason, since))) {
      context.operations().end();
      return;
    }
    stop();
    context.scheduler().fork(() -> lossStage.lose(reason));
    if (!extensions.isIdle()) {
      context.scheduler().fork(this::failExtensions); // as many as a user asked for
    }
    if (reason == LossReason.CLOSED) {
      leases.onEnded(this);
      context.operations().end();
    } else {
      context.scheduler().schedule(0, () -> releaseAfterLoss(held));
    }
  }

  /** Runs on a thread of ours: a caller that looks at a lease waits for no backend. */
  private void releaseAfterLoss(Held held) {
    releaseKeys(held, false);
    leases.onEnded(this); // after the sending, as above
    context.operations().end();
  }

  private void stop() {
    expiry.stop();
    if (keepAlive != null) {
      keepAlive.stop();
    }
  }

  /** Releases the keys, also after a loss. There is no state if no caller took the grant. */
  private CompletableFuture<LockPrimitive.Released> releaseKeys(
      @Nullable Held held, boolean callerWaits) {
    CompletableFuture<LockPrimitive.Released> result = new CompletableFuture<>();
    context.operations().begin();
    whenPermitted(result, callerWaits, waiting -> sendRelease(held, waiting));
    return result;
  }

  private CompletableFuture<LockPrimitive.Released> sendRelease(
      @Nullable Held held, boolean callerWaits) {
    awaitExtensionSent();
    long left = held == null ? 0 : held.keptUntil() - context.clock().nanos();
    Duration keep = Duration.ofNanos(Math.max(0, left));
    // keys of a lease that is over are not ours to keep: another owner may have a quorum
    boolean isValid = held != null && current() instanceof Released && nanosLeft(held) > 0;
    BiFunction<Boolean, Boolean, CompletableFuture<LockPrimitive.Released>> release =
        (handsOver, waits) ->
            Futures.start(
                () -> primitive().release(new Release(grant, keep, isValid, handsOver, waits)));
    return keep.isZero()
        ? handoff.during(callerWaits, release)
        : release.apply(false, callerWaits); // no waiter can have it yet
  }

  /** Runs a backend call when there is a permit: at once on this thread if that is now. */
  private <T> void whenPermitted(
      CompletableFuture<T> result,
      boolean callerWaits,
      Function<Boolean, CompletableFuture<T>> call) {
    if (context.limiter().hasPermit()) {
      run(result, () -> call.apply(callerWaits));
    } else {
      context.limiter().enqueue(() -> run(result, () -> call.apply(false)));
    }
  }

  private <T> void run(CompletableFuture<T> result, Supplier<CompletableFuture<T>> call) {
    context.limiter().acquirePermit();
    Futures.call(call)
        .whenComplete(
            (value, failure) -> {
              try {
                Futures.complete(result, value, failure);
              } finally {
                context.limiter().releasePermit();
                context.operations().end();
              }
            });
  }

  private LockPrimitive primitive() {
    return context.primitive();
  }

  private RuntimeException ended(State now) {
    return now instanceof Lost lost
        ? new LockLostException(grant.name(), lost.reason())
        : new IllegalStateException("the lease on '" + grant.name() + "' was released");
  }
}
