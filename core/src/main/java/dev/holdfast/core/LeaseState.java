package dev.holdfast.core;

import dev.holdfast.HeldLock;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.GrantState.Held;
import dev.holdfast.core.GrantState.Lost;
import dev.holdfast.core.GrantState.Released;
import dev.holdfast.core.GrantState.Transferred;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one grant: held until the end of its validity, then released, transferred or
 * lost, and nothing after that. Extensions follow one another. A release waits for none: it is sent
 * behind the extension in flight, and ends it. Safe for use by many threads.
 */
final class LeaseState {
  private final ManagerContext context;
  private final ActiveLeases leases;
  private final Grant grant;
  private final Handoff handoff;
  private final ClockReading grantedAt;
  private final HoldLimit holdLimit;
  private final LockRequest request;
  private final @Nullable KeepAlive keepAlive;
  private final AtomicReference<GrantState> state;
  private final PermittedCalls calls;
  private final SerialExecutor extensions = new SerialExecutor();
  private final TimerSlot expiry = new TimerSlot();
  private final LossStage lossStage;
  private final LeaseReport report;

  LeaseState(
      ManagerContext context,
      ActiveLeases leases,
      LockRequest request,
      Grant grant,
      int handoffs,
      LeaseReport report) {
    this.handoff = new Handoff(leases.queues(), grant.name(), handoffs);
    this.context = context;
    this.leases = leases;
    this.grant = grant;
    this.grantedAt = context.clock().now();
    this.holdLimit = HoldLimit.of(context.clock(), request, grantedAt);
    this.calls = new PermittedCalls(context);
    this.request = request;
    this.report = report;
    this.keepAlive = holdLimit.isSet() ? new KeepAlive(context, this, request.ttl(), report) : null;
    long keptUntil = grantedAt.nanos() + Nanos.of(request.holdAtLeast());
    this.state = new AtomicReference<>(new Held(grant.validUntil(), LossReason.EXPIRED, keptUntil));
    this.lossStage = new LossStage(context);
  }

  Grant grant() {
    return grant;
  }

  ClockReading grantedAt() {
    return grantedAt;
  }

  /** Returns the state without a look at the clock. See {@link #expireIfDue}. */
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

  private GrantState expireAndGet() {
    expireIfDue();
    return current();
  }

  private long nanosLeft(Held held) {
    return context.clock().now().nanosUntil(held.validUntil());
  }

  Duration remaining() {
    return expireAndGet() instanceof Held held
        ? Duration.ofNanos(Math.max(0, nanosLeft(held)))
        : Duration.ZERO;
  }

  boolean isHeld() {
    return expireAndGet() instanceof Held;
  }

  void requireHeld() {
    GrantState now = expireAndGet();
    if (!(now instanceof Held)) {
      throw now.ended(grant.name());
    }
  }

  /** Sets the time for which a release keeps other owners out, from now. */
  void holdAtLeast(Duration minimum) {
    long until = context.clock().nanos() + Nanos.of(minimum);
    updateHeld(held -> held.withKeptUntil(until));
    requireHeld();
  }

  /** Returns the lock as operators see it, or empty if it is not held. */
  Optional<HeldLock> shown() {
    return expireAndGet() instanceof Held held
        ? Optional.of(
            new HeldLock(
                grant.name(),
                request.ownerLabel().orElse(context.defaultOwner()),
                grantedAt.instant(),
                Duration.ofNanos(Math.max(0, nanosLeft(held))),
                Optional.ofNullable(holdLimit.end()).map(ClockReading::instant)))
        : Optional.empty();
  }

  /** Returns the future of the loss, which never completes for a lock that is released. */
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
   * @param lease the lease of the user
   * @param attemptedAt when the attempt began, by the clock's nanoseconds
   */
  void keepAlive(DefaultLease lease, long attemptedAt) {
    if (keepAlive != null) {
      keepAlive.start(lease, attemptedAt);
    }
  }

  /** Watches for the end of validity, which may be nearer than the timer that is set is. */
  void watch() {
    if (expireAndGet() instanceof Held held) {
      expiry.set(context.scheduler().watch(nanosLeft(held), this::watch));
    }
  }

  /**
   * Extends to at least this from now, but not past {@code keepAliveUpTo}. The result is there at
   * the latest when the lease ends.
   */
  CompletableFuture<Void> extend(Duration ttl) {
    return inTurn(() -> extendWithinHold(ttl));
  }

  /**
   * Extends to at least this from now, whatever {@code keepAliveUpTo} says, and then ends the grant
   * without a release. Where that fails, the grant stays what it was.
   */
  CompletableFuture<Void> transfer(Duration within) {
    Transferred mine = new Transferred(new Object());
    return inTurn(() -> transferExtended(within, mine))
        .handle(
            (done, failure) -> {
              if (failure != null
                  && !current().equals(mine)) { // later calls may have failed this one
                throw Futures.unchecked(failure);
              }
              return null;
            });
  }

  private CompletableFuture<Void> transferExtended(Duration within, Transferred mine) {
    return sendExtension(() -> context.primitive().extendForTransfer(grant, within))
        .handle(
            (extension, failure) -> {
              onExtensionAnswered(extension, failure, false);
              endAsTransferred(mine);
              return null;
            });
  }

  private void endAsTransferred(Transferred mine) {
    while (expireAndGet() instanceof Held held) {
      if (state.compareAndSet(held, mine)) {
        stop();
        report.onRelease();
        leases.onEnded(this);
        report.transferred();
        return;
      }
    }
    throw current().ended(grant.name());
  }

  private CompletableFuture<Void> inTurn(Supplier<CompletableFuture<Void>> extension) {
    context.operations().begin();
    CompletableFuture<Void> result = extensions.execute(mine -> calls.run(mine, extension));
    if (!(current() instanceof Held)) {
      failExtensions();
    }
    return result;
  }

  private CompletableFuture<Void> extendWithinHold(Duration ttl) {
    Duration asked = holdLimit.limit(ttl);
    boolean isLimited = asked.compareTo(ttl) < 0;
    if (asked.toMillis() <= 0 && expireAndGet() instanceof Held) {
      if (isLimited) {
        updateHeld(Held::atLimit);
      }
      return CompletableFuture.completedFuture(null);
    }
    return sendExtension(() -> context.primitive().extend(grant, asked))
        .handle(
            (extension, failure) -> {
              onExtensionAnswered(extension, failure, isLimited);
              return null;
            });
  }

  /** Takes the monitor that {@link #awaitExtensionSent} takes: no extension follows a release. */
  private synchronized CompletableFuture<Extension> sendExtension(
      Supplier<CompletableFuture<Extension>> call) {
    GrantState now = expireAndGet();
    if (!(now instanceof Held)) {
      return CompletableFuture.failedFuture(now.ended(grant.name()));
    }
    if (keepAlive != null) {
      updateHeld(Held::perhapsUnreachable);
    }
    return Futures.start(call).whenComplete(context::onExtended);
  }

  /** Waits, once the grant has ended, until an extension that is being sent is sent. */
  private synchronized void awaitExtensionSent() {
    // it was sent under this monitor, and none is sent any more
  }

  private void onExtensionAnswered(
      @Nullable Extension extension, @Nullable Throwable failure, boolean isLimited) {
    while (expireAndGet() instanceof Held held) {
      if (failure != null) {
        updateHeld(Held::perhapsUnreachable);
        throw Futures.unchecked(failure);
      }
      if (extension instanceof LockPrimitive.Lost lost) {
        lose(held, lost.reason(), context.clock().now());
      } else if (extension instanceof Extended longer) {
        ClockReading end = holdLimit.limit(longer.validUntil());
        boolean atLimit = isLimited || !end.equals(longer.validUntil());
        if (state.compareAndSet(held, held.extended(end, context.clock().now(), atLimit))) {
          return;
        }
      }
    }
    throw current()
        .ended(grant.name()); // an extension that its lease's own end cuts short is no outage
  }

  private void updateHeld(UnaryOperator<Held> change) {
    state.updateAndGet(now -> now instanceof Held held ? change.apply(held) : now);
  }

  private void failExtensions() {
    extensions.failAll(() -> current().ended(grant.name()));
  }

  CompletableFuture<Boolean> release() {
    while (true) {
      GrantState now = expireAndGet();
      if (now instanceof Released released) {
        return released.result();
      }
      if (now instanceof Transferred) {
        return CompletableFuture.completedFuture(true);
      }
      if (now instanceof Lost lost) {
        report.overrun(lost.since());
      }
      if (!(now instanceof Held held)) {
        return CompletableFuture.completedFuture(false);
      }
      Released released = new Released(new CompletableFuture<>());
      if (state.compareAndSet(held, released)) {
        stop();
        report.onRelease();
        failExtensions();
        CompletableFuture<LockPrimitive.Released> sent = releaseKeys(held);
        leases.onEnded(this); // after the sending: a manager that closes waits for the last lease
        sent.whenComplete((answer, failure) -> onReleased(released, answer, failure));
        return released.result();
      }
    }
  }

  /** Releases a grant, or its transfer, that no caller took, even if its manager was closed. */
  void releaseUnclaimed() {
    state.set(new Released(CompletableFuture.completedFuture(true)));
    stop();
    report.onRelease();
    failExtensions();
    CompletableFuture<LockPrimitive.Released> sent = releaseKeys(null);
    leases.onEnded(this);
    report.releasedOnceAnswered(sent);
  }

  /** Ends the lease of a closed manager. Its keys stay, because the holder may still be at work. */
  void close() {
    while (expireAndGet() instanceof Held held) {
      lose(held, LossReason.CLOSED, context.clock().now());
    }
  }

  private void onReleased(
      Released released, LockPrimitive.@Nullable Released answer, @Nullable Throwable failure) {
    if (answer == null) {
      report.released(false);
      released.result().completeExceptionally(Futures.cause(Objects.requireNonNull(failure)));
      return;
    }
    Optional<LossReason> loss = answer.loss();
    loss.ifPresent(reason -> state.set(new Lost(reason, context.clock().now())));
    report.answered(grant, grantedAt, current());
    released.result().complete(loss.isEmpty());
  }

  private void lose(Held held, LossReason reason, ClockReading since) {
    context.operations().begin(); // first, because a manager that closes waits for the release
    Lost lost = new Lost(reason, since);
    if (!state.compareAndSet(held, lost)) {
      context.operations().end();
      return;
    }
    stop();
    context.scheduler().fork(() -> lossStage.lose(reason)); // before any report of it
    if (!extensions.isIdle()) {
      context.scheduler().fork(this::failExtensions); // as many as a user asked for
    }
    report.onLoss(grant, grantedAt, lost);
    if (reason == LossReason.CLOSED) {
      leases.onEnded(this);
      context.operations().end();
      report.lost(reason);
    } else {
      context.scheduler().schedule(0, () -> releaseAfterLoss(held));
    }
  }

  /** Runs on a thread of ours: a caller that looks at a lease waits for no backend. */
  private void releaseAfterLoss(Held held) {
    CompletableFuture<LockPrimitive.Released> sent = releaseKeys(held);
    leases.onEnded(this); // after the sending, as above
    context.operations().end();
    if (current() instanceof Lost lost) {
      report.lostOnceAnswered(lost.reason(), sent);
    }
  }

  private void stop() {
    expiry.stop();
    if (keepAlive != null) {
      keepAlive.stop();
    }
  }

  /** Releases the keys, also after a loss. There is no state if no caller took the grant. */
  private CompletableFuture<LockPrimitive.Released> releaseKeys(@Nullable Held held) {
    return calls.start(() -> sendRelease(held));
  }

  private CompletableFuture<LockPrimitive.Released> sendRelease(@Nullable Held held) {
    awaitExtensionSent();
    long left =
        held == null || current().isShownLost() ? 0 : held.keptUntil() - context.clock().nanos();
    Duration keep = Duration.ofNanos(Math.max(0, left));
    // keys of a lease that is over are not ours to keep: another owner may have a quorum
    boolean isValid =
        held != null && left > 0 && current() instanceof Released && nanosLeft(held) > 0;
    return handoff.release(context.primitive(), grant, keep, isValid);
  }
}
