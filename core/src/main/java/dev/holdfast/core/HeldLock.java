package dev.holdfast.core;

import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Lost;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one grant: held until a moment, then released or lost, and nothing after
 * that. Extensions follow one another. A release waits for none: it is sent behind the extension
 * that is under way, and ends it.
 */
final class HeldLock {
  private final Surroundings surroundings;
  private final OpenLeases leases;
  private final Grant grant;
  private final HandOver handOver;
  private final Moment grantedAt;
  private final @Nullable Moment longestHold;
  private final Duration minHold;
  private final AtomicReference<Phase> phase;
  private final AtomicReference<@Nullable Extending> lastExtending = new AtomicReference<>();
  private final LossStage lost;
  private volatile boolean unreachable;
  private volatile boolean atLimit;
  private volatile boolean isExtending;
  private volatile Scheduler.@Nullable Task expiry;
  private volatile @Nullable KeepAlive keepAlive;

  /** One extension of those that are under way or wait for their turn. */
  private static final class Extending {
    private final CompletableFuture<Void> result = new CompletableFuture<>();
    private volatile @Nullable Extending before;

    CompletableFuture<Void> turn() {
      Extending first = before;
      return first == null ? CompletableFuture.completedFuture(null) : first.result;
    }
  }

  /** Where a grant stands. */
  sealed interface Phase {}

  /** Held, until this moment if nothing extends it. */
  record Held(Moment validUntil) implements Phase {}

  /** Given back, or on its way; the future is the answer to every release. */
  record Released(CompletableFuture<Boolean> given) implements Phase {}

  /** Lost, since this moment. */
  record Gone(LossReason reason, Moment since) implements Phase {}

  HeldLock(
      Surroundings surroundings, OpenLeases leases, LockRequest request, Grant grant, int inRow) {
    this.handOver = new HandOver(leases.lines(), grant.name(), inRow);
    this.surroundings = surroundings;
    this.leases = leases;
    this.grant = grant;
    this.grantedAt = surroundings.clock().now();
    this.longestHold =
        request.maxHold().map(hold -> grantedAt.plusNanos(Nanos.of(hold))).orElse(null);
    this.minHold = request.minHold();
    this.phase = new AtomicReference<>(new Held(grant.validUntil()));
    this.lost = new LossStage(surroundings);
  }

  Grant grant() {
    return grant;
  }

  /**
   * The phase as the clock has it. Whoever sees the end of validity makes it a loss at once, so
   * that no extension that is under way can revive what somebody has seen lost.
   */
  Phase phase() {
    while (true) {
      Phase now = Objects.requireNonNull(phase.get());
      if (!(now instanceof Held held)) {
        return now;
      }
      if (surroundings.clock().now().nanosUntil(held.validUntil()) > 0) {
        return held;
      }
      lose(held, expiryReason(), held.validUntil());
    }
  }

  Duration remaining() {
    return phase() instanceof Held held
        ? Duration.ofNanos(Math.max(0, surroundings.clock().now().nanosUntil(held.validUntil())))
        : Duration.ZERO;
  }

  void requireHeld() {
    Phase now = phase();
    if (!(now instanceof Held)) {
      throw ended(now);
    }
  }

  /** Never completes for a lock that is given back. */
  LossStage lost() {
    return lost;
  }

  /**
   * Has it renewed while it is held.
   *
   * @param begunAt when the attempt began that got it, by the clock's nanoseconds
   */
  void keepAlive(KeepAlive renewals, long begunAt) {
    keepAlive = renewals;
    renewals.start(begunAt);
    if (!(phase.get() instanceof Held)) {
      renewals.stop();
    }
  }

  /** Whether no extension can move the end any more, because of the longest hold. */
  boolean atLimit() {
    return atLimit;
  }

  /** Watches for the end of validity. */
  void watch() {
    if (phase() instanceof Held held) {
      long left = surroundings.clock().now().nanosUntil(held.validUntil());
      expiry = surroundings.scheduler().watch(left, this::watch);
      if (!(phase.get() instanceof Held)) {
        stopWatching();
      }
    }
  }

  /** Watches anew: the end may be nearer than its timer is. */
  void watchAnew() {
    stopWatching();
    watch();
  }

  /**
   * Extends to at least this from now, but not past the longest hold. The result is there at the
   * latest when the lock ends.
   */
  CompletableFuture<Void> extend(Duration ttl) {
    Extending mine = new Extending();
    do {
      mine.before = lastExtending.get();
    } while (!lastExtending.compareAndSet(mine.before, mine));
    surroundings.operations().begin();
    mine.turn()
        .whenComplete(
            (r, f) -> {
              mine.before = null;
              whenRoom(mine.result, false, any -> extension(ttl));
            });
    // an idle lease keeps none
    mine.result.whenComplete((r, f) -> lastExtending.compareAndSet(mine, null));
    if (!(phase.get() instanceof Held)) {
      endExtensions();
    }
    return mine.result;
  }

  private CompletableFuture<Void> extension(Duration ttl) {
    Duration asked = withinHold(ttl);
    boolean limited = asked.compareTo(ttl) < 0;
    if (asked.toMillis() <= 0 && phase() instanceof Held) {
      atLimit = atLimit || limited;
      return CompletableFuture.completedFuture(null);
    }
    return extensionSent(asked)
        .handle(
            (extension, failure) -> {
              try {
                extended(extension, failure);
              } finally {
                isExtending = false;
              }
              atLimit = atLimit || limited;
              return null;
            });
  }

  /** Under the monitor that {@link #afterExtension} takes: no extension is sent after a release. */
  private synchronized CompletableFuture<Extension> extensionSent(Duration asked) {
    Phase now = phase();
    if (!(now instanceof Held)) {
      return CompletableFuture.failedFuture(ended(now));
    }
    isExtending = true;
    return Stages.start(() -> surroundings.primitive().extend(grant, asked));
  }

  /** Once the phase has ended: waits until an extension that is being sent is sent. */
  private synchronized void afterExtension() {
    // it was sent under this monitor, and none is sent any more
  }

  /** Once the phase has ended. The last first, so that none begins because one before it ended. */
  private void endExtensions() {
    Phase end = Objects.requireNonNull(phase.get());
    Extending extending = lastExtending.get();
    while (extending != null) {
      Extending before = extending.before;
      extending.result.completeExceptionally(ended(end));
      extending = before;
    }
  }

  CompletableFuture<Boolean> release(boolean callerWaits) {
    while (true) {
      Phase now = phase();
      if (now instanceof Released released) {
        return released.given();
      }
      if (now instanceof Gone) {
        return CompletableFuture.completedFuture(false);
      }
      Released released = new Released(new CompletableFuture<>());
      if (phase.compareAndSet(now, released)) {
        stop();
        endExtensions();
        CompletableFuture<LockPrimitive.Released> back = giveBack(minHold, callerWaits);
        leases.ended(this); // not before, because a manager that closes waits for the last of these
        back.whenComplete(
            (given, failure) -> {
              if (failure == null) {
                given(released, given.loss());
              } else {
                released.given().completeExceptionally(Stages.cause(failure));
              }
            });
        return released.given();
      }
    }
  }

  /** Nobody got it: keeps nobody out any longer, even if its manager has been closed since. */
  void takeBack() {
    phase.set(new Released(CompletableFuture.completedFuture(true)));
    stop();
    endExtensions();
    giveBack(Duration.ZERO, false);
    leases.ended(this);
  }

  /** Its manager is closed: the keys stay, because the holder may still be at work. */
  void close() {
    if (phase() instanceof Held held) {
      lose(held, LossReason.CLOSED, surroundings.clock().now());
    }
  }

  private void extended(@Nullable Extension extension, @Nullable Throwable failure) {
    if (failure != null) {
      Phase now = phase(); // first: an extension that its lease's own end cuts short is no outage
      if (!(now instanceof Held)) {
        throw ended(now);
      }
      unreachable = true;
      throw Stages.unchecked(failure);
    }
    unreachable = false;
    while (phase() instanceof Held held) {
      if (extension instanceof Lost gone) {
        lose(held, gone.reason(), surroundings.clock().now());
      } else if (extension instanceof Extended longer) {
        Moment end = withinHold(longer.validUntil());
        if (phase.compareAndSet(held, later(held, end))) {
          atLimit = atLimit || !end.equals(longer.validUntil());
          return;
        }
      }
    }
    throw ended(phase());
  }

  private Held later(Held held, Moment end) {
    Moment now = surroundings.clock().now();
    return now.nanosUntil(end) > now.nanosUntil(held.validUntil()) ? new Held(end) : held;
  }

  /** An extension may have been sent later than we looked what is left of the longest hold. */
  private Moment withinHold(Moment end) {
    return longestHold == null ? end : end.earlier(longestHold);
  }

  private Duration withinHold(Duration ttl) {
    if (longestHold == null) {
      return ttl;
    }
    long left = surroundings.clock().now().nanosUntil(longestHold);
    return left < Nanos.of(ttl) ? Duration.ofNanos(Math.max(0, left)) : ttl;
  }

  private void given(Released released, Optional<LossReason> loss) {
    loss.ifPresent(reason -> phase.set(new Gone(reason, surroundings.clock().now())));
    released.given().complete(loss.isEmpty());
  }

  private void lose(Held held, LossReason reason, Moment since) {
    surroundings.operations().begin(); // first, because a manager that closes waits for the rest
    if (!phase.compareAndSet(held, new Gone(reason, since))) {
      surroundings.operations().end();
      return;
    }
    stop();
    surroundings.scheduler().fork(() -> lost.tell(reason));
    if (lastExtending.get() != null) {
      surroundings.scheduler().fork(this::endExtensions); // as many as a user asked for
    }
    if (reason == LossReason.CLOSED) {
      leases.ended(this);
      surroundings.operations().end();
    } else {
      surroundings.scheduler().schedule(0, this::giveBackLost);
    }
  }

  /** On a thread of ours, because whoever looks at a lease waits for no backend. */
  private void giveBackLost() {
    giveBack(minHold, false);
    leases.ended(this); // not before, as above
    surroundings.operations().end();
  }

  private void stop() {
    stopWatching();
    KeepAlive renewals = keepAlive;
    if (renewals != null) {
      renewals.stop();
    }
  }

  private void stopWatching() {
    Scheduler.Task task = expiry;
    if (task != null) {
      task.cancel();
    }
  }

  /** Also after a loss, so that what is left of the keys keeps nobody out for longer. */
  private CompletableFuture<LockPrimitive.Released> giveBack(
      Duration atLeast, boolean callerWaits) {
    CompletableFuture<LockPrimitive.Released> mine = new CompletableFuture<>();
    surroundings.operations().begin();
    whenRoom(
        mine,
        callerWaits,
        waiting -> {
          afterExtension();
          long kept = Nanos.of(atLeast) - (surroundings.clock().nanos() - grantedAt.nanos());
          Duration keep = Duration.ofNanos(Math.max(0, kept));
          BiFunction<Boolean, Boolean, CompletableFuture<LockPrimitive.Released>> release =
              (handsOver, still) ->
                  Stages.start(
                      () ->
                          surroundings
                              .primitive()
                              .release(new LockPrimitive.Release(grant, keep, handsOver, still)));
          return keep.isZero()
              ? handOver.during(waiting, release)
              : release.apply(false, waiting); // it is free for nobody yet
        });
    return mine;
  }

  /** Runs an operation when the backend has room: at once on this thread if that is now. */
  private <T> void whenRoom(
      CompletableFuture<T> mine,
      boolean callerWaits,
      Function<Boolean, CompletableFuture<T>> operation) {
    Operations operations = surroundings.operations();
    if (operations.haveRoom()) {
      run(mine, () -> operation.apply(callerWaits));
    } else {
      operations.whenRoom(() -> run(mine, () -> operation.apply(false)));
    }
  }

  private <T> void run(CompletableFuture<T> mine, Supplier<CompletableFuture<T>> operation) {
    Operations operations = surroundings.operations();
    operations.ask();
    Stages.call(operation)
        .whenComplete(
            (value, failure) -> {
              try {
                if (failure == null) {
                  mine.complete(value);
                } else {
                  mine.completeExceptionally(Stages.cause(failure));
                }
              } finally {
                operations.answered();
                operations.end();
              }
            });
  }

  private LossReason expiryReason() {
    if (atLimit) {
      return LossReason.MAX_HOLD;
    }
    boolean isBeingRenewed = keepAlive != null && isExtending;
    return unreachable || isBeingRenewed ? LossReason.UNREACHABLE : LossReason.EXPIRED;
  }

  private RuntimeException ended(Phase phase) {
    return phase instanceof Gone gone
        ? new LockLostException(grant.name(), gone.reason())
        : new IllegalStateException("the lease on '" + grant.name() + "' was released");
  }
}
