package dev.holdfast.core;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** All that a manager's parts get from outside. Immutable. */
record ManagerContext(
    LockPrimitive primitive,
    Set<LockCapability> capabilities,
    Clock clock,
    Scheduler scheduler,
    RandomGenerator random,
    Executor callbacks,
    long retryDelayNanos,
    Duration maxTtl,
    String defaultOwner,
    InFlightOperations operations,
    ConcurrencyLimiter limiter,
    UnconfirmedReleases unconfirmed,
    Listeners listeners,
    NodeEvents nodeEvents,
    @Nullable SingleNode onlyNode) {
  /** Proposed to users who ask for more than {@code maxTtl}. */
  private static final Duration USUAL_TTL = Duration.ofSeconds(30);

  /** More than a thread of this process waits for a processor, on a machine that can serve it. */
  private static final long LATE_NANOS = 5_000_000_000L;

  /** Starts an attempt. The caller ends the operation and releases the permit after it. */
  CompletableFuture<Outcome> attempt(Attempt attempt) {
    operations.begin();
    limiter.acquirePermit();
    return Futures.start(() -> primitive.attempt(attempt));
  }

  /** Notes what an attempt says of the node of a backend that has no others. */
  void onAttempted(@Nullable Outcome outcome, @Nullable Throwable failure) {
    if (onlyNode != null) {
      onlyNode.onAttempted(outcome, failure);
    }
  }

  /** Notes what an extension says of the node of a backend that has no others. */
  void onExtended(@Nullable Extension outcome, @Nullable Throwable failure) {
    if (onlyNode != null) {
      onlyNode.onExtended(outcome, failure);
    }
  }

  /** Notes what a ping says of the node of a backend that has no others. */
  void onPinged(@Nullable Boolean answers) {
    if (onlyNode != null) {
      onlyNode.onPinged(answers);
    }
  }

  /** Returns the nodes as they are known. */
  List<LockNode> nodes() {
    return onlyNode == null ? List.copyOf(primitive.nodes()) : onlyNode.nodes();
  }

  /** Returns a random pause in [delay/2, delay], so that contenders do not keep colliding. */
  long jitter(long delayNanos) {
    long half = delayNanos / 2;
    return half + random.nextLong(delayNanos - half + 1);
  }

  /** Waits for an operation, with a bound far above the backend's own: it may queue for room. */
  <T> T join(CompletableFuture<T> operation) {
    return Futures.join(operation, joinNanos());
  }

  /**
   * Waits as {@link #join} does, for a future that no other code waits for. The future fails when
   * the wait is over.
   */
  <T> T joinOrFail(CompletableFuture<T> own) {
    return Futures.joinOrFail(own, joinNanos());
  }

  /** Waits as {@link #join} does. A result that comes when the wait is over is released. */
  <T> T joinOrFail(CompletableFuture<T> internal, Consumer<? super T> release) {
    CompletableFuture<T> own = new CompletableFuture<>();
    internal.whenComplete((value, failure) -> complete(own, value, failure));
    return joinOrFail(releasing(own, internal, release));
  }

  private long joinNanos() {
    return 4 * Nanos.of(primitive.longestOperation()) + LATE_NANOS;
  }

  void require(LockCapability capability, String what) {
    if (!capabilities.contains(capability)) {
      throw new LockConfigurationException(
          what + " needs " + capability + ", which this backend does not have: " + capabilities);
    }
  }

  void requireTtl(String name, Duration ttl) {
    if (ttl.isZero() || ttl.isNegative()) {
      throw new LockConfigurationException("the ttl is " + text(ttl) + ": give more than zero");
    }
    if (ttl.compareTo(maxTtl) > 0) {
      throw new LockConfigurationException(
          "the ttl, " + text(ttl) + ", is above maxTtl, " + text(maxTtl) + ": " + instead(ttl));
    }
    primitive.requireName(name);
    primitive.requireUsable(name, ttl);
  }

  /** Requires a time for which the keys of a transferred lock can live. */
  void requireWithin(String name, Duration within) {
    if (within.isZero() || within.isNegative()) {
      throw new LockConfigurationException(
          "transfer within " + text(within) + ": give more than zero");
    }
    if (within.compareTo(maxTtl) > 0) {
      throw new LockConfigurationException(
          "transfer within "
              + text(within)
              + " is above maxTtl, "
              + text(maxTtl)
              + ", for which keys live at most: give at most that, and adopt in this time");
    }
    primitive.requireUsable(name, within);
  }

  /** Returns advice other than a larger maxTtl, which must be equal in all clients of the guard. */
  private String instead(Duration ttl) {
    if (!capabilities.contains(LockCapability.KEEP_ALIVE)) {
      return "ask for less, or raise maxTtl";
    }
    Duration usual = maxTtl.compareTo(USUAL_TTL) < 0 ? maxTtl : USUAL_TTL;
    return "a ttl is how long the lock outlives a holder that dies; for longer work ask for "
        + text(usual)
        + " and keepAliveUpTo("
        + text(ttl)
        + "), which renews it (holdfast run does so by itself)";
  }

  /** Holds a name that comes without a request to the limits of those that come with one. */
  void requireName(String name) {
    primitive.requireName(LockRequest.of(name, maxTtl).name());
  }

  /** Returns a duration as text, in the units of URLs and of the command line. */
  static String text(Duration duration) {
    if (!duration.isZero() && duration.equals(Duration.ofHours(duration.toHours()))) {
      return duration.toHours() + "h";
    }
    boolean whole = duration.toMillisPart() == 0 || duration.toSeconds() > 1_000_000;
    return whole ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
  }

  /** Runs a task that calls into the user's code. Never throws. */
  void callback(Runnable task) {
    callbacks.execute(task);
  }

  /**
   * Returns a future for a user who may complete it first, by a cancellation or a timeout. Then the
   * result is released when it is there, whatever the callback executor does.
   *
   * @param release gets the result that the user did not take
   */
  <T> CompletableFuture<T> forUser(
      CompletableFuture<? extends T> internal, Consumer<? super T> release) {
    return releasing(forUser(internal), internal, release);
  }

  /** Returns a future for users: actions that depend on it run on the callback executor. */
  <T> CompletableFuture<T> forUser(CompletableFuture<? extends T> internal) {
    CompletableFuture<T> user = new CompletableFuture<>();
    internal.whenComplete((value, failure) -> callback(() -> complete(user, value, failure)));
    return user;
  }

  private static <T> void complete(
      CompletableFuture<T> user, T value, @Nullable Throwable failure) {
    if (failure == null) {
      user.complete(value);
    } else {
      user.completeExceptionally(Futures.forUser(failure));
    }
  }

  /** Returns the future, which releases a result that it did not get itself. */
  private static <T> CompletableFuture<T> releasing(
      CompletableFuture<T> user,
      CompletableFuture<? extends T> internal,
      Consumer<? super T> release) {
    user.whenComplete(
        (taken, failure) ->
            internal.thenAccept(
                result -> {
                  if (result != taken) {
                    release.accept(result);
                  }
                }));
    return user;
  }
}
