package dev.holdfast.legacy.migrate;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.NodeObserver;
import dev.holdfast.core.Validity;
import dev.holdfast.legacy.internal.UndeclaredExtension;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Two locks as one, while a fleet moves from the old to the new. Every process takes the old one
 * first and releases it last, so that no two hold one lock each and wait for the other.
 */
final class BothPrimitive implements LockPrimitive {
  private static final Logger LOG = System.getLogger(MigrationProvider.class.getName());

  private final LockManager oldManager;
  private final LockManager newManager;
  private final LockPrimitive oldLocks;
  private final LockPrimitive newLocks;
  private final Clock clock;
  private final SideNodes oldNodes;
  private final SideNodes newNodes;

  /** The grants of both locks. */
  private record BothGrant(Grant ofOld, Grant ofNew, boolean tokens, AtomicBoolean isReleased)
      implements Grant {
    BothGrant(Grant ofOld, Grant ofNew, boolean tokens) {
      this(ofOld, ofNew, tokens, new AtomicBoolean());
    }

    /** Sends the second half of an extension, unless the release is before it. */
    CompletableFuture<Extension> unlessReleased(Supplier<CompletableFuture<Extension>> extension) {
      synchronized (isReleased) {
        return isReleased.get()
            ? CompletableFuture.completedFuture(new Lost(LossReason.REMOVED))
            : extension.get();
      }
    }

    /** Waits until an extension is sent. */
    void released() {
      synchronized (isReleased) {
        isReleased.set(true);
      }
    }

    @Override
    public String name() {
      return ofNew.name();
    }

    @Override
    public String token() {
      return ofNew.token();
    }

    @Override
    public OptionalLong fencingToken() {
      return tokens ? ofNew.fencingToken() : OptionalLong.empty();
    }

    @Override
    public int votes() {
      return ofNew.votes();
    }

    /** Returns the smaller margin of the two locks. */
    @Override
    public int margin() {
      return Math.min(ofOld.margin(), ofNew.margin());
    }

    @Override
    public ClockReading validUntil() {
      return ofOld.validUntil().earlier(ofNew.validUntil());
    }
  }

  /** A step that follows an operation, whatever its outcome. */
  private interface Next<A, B> {
    CompletableFuture<B> after(@Nullable A result, @Nullable Throwable failure);
  }

  /** Closes both managers when it is closed. */
  BothPrimitive(LockManager oldManager, LockManager newManager, Clock clock) {
    this.oldManager = oldManager;
    this.newManager = newManager;
    this.oldLocks = primitive("from", oldManager);
    this.newLocks = primitive("to", newManager);
    this.clock = clock;
    this.oldNodes = SideNodes.of(oldLocks, clock);
    this.newNodes = SideNodes.of(newLocks, clock);
  }

  private static LockPrimitive primitive(String which, LockManager manager) {
    return manager
        .unwrap(LockPrimitive.class)
        .orElseThrow(
            () ->
                new LockConfigurationException(
                    "the lock manager '"
                        + which
                        + "' is not built on "
                        + LockPrimitive.class.getName()
                        + ": a migration takes two that are"));
  }

  /**
   * Returns the capabilities of both, but fencing tokens are the new one's, and not declared where
   * the old one has them, too: those of two counters are not comparable. There is no {@code
   * TRANSFER}: it would replace two tokens one after the other, and a failure between the two would
   * leave half of a lock.
   */
  @Override
  public Set<LockCapability> capabilities() {
    EnumSet<LockCapability> both = EnumSet.noneOf(LockCapability.class);
    both.addAll(withExtension(oldLocks));
    both.retainAll(withExtension(newLocks));
    both.remove(LockCapability.FENCING_TOKEN);
    both.remove(LockCapability.TRANSFER);
    if (hasTokens()) {
      both.add(LockCapability.FENCING_TOKEN);
    }
    return Collections.unmodifiableSet(both);
  }

  @Override
  public String backend() {
    return "migrate";
  }

  @Override
  public void requireName(String name) {
    oldLocks.requireName(name);
    newLocks.requireName(name);
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    oldLocks.requireUsable(name, ttl);
    newLocks.requireUsable(name, ttl);
  }

  /**
   * Lends the thread to the old lock only. If a thread served one lock, it would hold back rounds
   * of the other.
   */
  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return oldLocks.lendThread(operation);
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    return inTurn(
        () -> oldLocks.attempt(attempt),
        (outcome, failure) -> {
          oldNodes.onAttempted(outcome, failure);
          if (outcome instanceof Grant ofOld) {
            return attemptNew(attempt, ofOld);
          }
          return failure == null
              ? ended(outcome, null)
              : afterLook(attempt.name(), () -> ended(null, failure));
        });
  }

  /**
   * Continues after a look at the new lock: a fault that cut the connection to the old lock has
   * often cut those to the new one, too, and a driver notices that with its next command. Else the
   * next attempt fails as well.
   */
  private CompletableFuture<Outcome> afterLook(
      String name, Supplier<CompletableFuture<Outcome>> answer) {
    return inTurn(() -> newLocks.inspect(name), (status, failure) -> answer.get());
  }

  private CompletableFuture<Outcome> attemptNew(Attempt attempt, Grant ofOld) {
    return inTurn(
        () -> newLocks.attempt(attempt),
        (outcome, failure) -> {
          newNodes.onAttempted(outcome, failure);
          if (!(outcome instanceof Grant ofNew)) {
            return afterRelease(oldLocks, ofOld, () -> ended(outcome, failure));
          }
          BothGrant both = new BothGrant(ofOld, ofNew, hasTokens());
          return clock.now().nanosUntil(both.validUntil()) > 0
              ? ended(both, null)
              : afterRelease(
                  this, both, () -> ended(null, Validity.tooLate(attempt.name(), attempt.ttl())));
        });
  }

  /**
   * Returns the outcome after a release. A failed release is left to expire, and does not change
   * the outcome.
   */
  private static CompletableFuture<Outcome> afterRelease(
      LockPrimitive locks, Grant grant, Supplier<CompletableFuture<Outcome>> answer) {
    return inTurn(
        () -> locks.release(Release.deletionOf(grant)),
        (released, failure) -> {
          if (failure != null) {
            LOG.log(
                Level.WARNING,
                "one of the two locks on '"
                    + grant.name()
                    + "' was acquired without the other and could not be released: it blocks other"
                    + " clients until it expires",
                failure);
          }
          return answer.get();
        });
  }

  /**
   * Extends the new lock first. If that is lost, the old lock does not keep out old clients for
   * longer.
   */
  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    BothGrant both = (BothGrant) grant;
    return inTurn(
        () -> newLocks.extend(both.ofNew(), ttl),
        (extension, failure) -> {
          newNodes.onExtended(extension, failure);
          return extension instanceof Extended ofNew
              ? extendOld(both, ttl, ofNew)
              : ended(extension, failure);
        });
  }

  private CompletableFuture<Extension> extendOld(BothGrant both, Duration ttl, Extended ofNew) {
    return both.unlessReleased(
            () ->
                started(() -> oldLocks.extend(both.ofOld(), ttl))
                    .whenComplete(oldNodes::onExtended))
        .thenApply(
            extension ->
                extension instanceof Extended ofOld
                    ? new Extended(ofOld.validUntil().earlier(ofNew.validUntil()))
                    : extension);
  }

  @Override
  public Duration longestOperation() {
    return oldLocks.longestOperation().plus(newLocks.longestOperation());
  }

  @Override
  public CompletableFuture<Released> release(Release release) {
    BothGrant both = (BothGrant) release.grant();
    both.released();
    return new BothRelease(oldLocks, both.ofOld(), newLocks, both.ofNew(), release).start();
  }

  /** Asks both locks at once, so that their times do not add up. */
  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    CompletableFuture<Optional<LockStatus>> ofOld = started(() -> oldLocks.inspect(name));
    return started(() -> newLocks.inspect(name))
        .thenCompose(ofNew -> ofNew.isPresent() ? ended(ofNew, null) : ofOld);
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    return started(() -> oldLocks.forceRelease(name))
        .thenCombine(started(() -> newLocks.forceRelease(name)), Boolean::logicalOr);
  }

  @Override
  public void observe(NodeObserver observer) {
    oldNodes.observe(observer);
    newNodes.observe(observer);
  }

  /** Returns the nodes of the old lock, then those of the new lock. */
  @Override
  public List<LockNode> nodes() {
    return Stream.concat(oldNodes.all(), newNodes.all()).toList();
  }

  @Override
  public CompletableFuture<Boolean> ping(String name) {
    return started(() -> oldNodes.ping(name))
        .thenCombine(started(() -> newNodes.ping(name)), Boolean::logicalAnd);
  }

  /** Asks the lock that stays first. */
  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return newManager.unwrap(type).or(() -> oldManager.unwrap(type));
  }

  @Override
  public void close() {
    try {
      newManager.close();
    } finally {
      oldManager.close();
    }
  }

  private boolean hasTokens() {
    return newLocks.capabilities().contains(LockCapability.FENCING_TOKEN)
        && !oldLocks.capabilities().contains(LockCapability.FENCING_TOKEN);
  }

  /**
   * Returns the capabilities of the old lock, with an extension if its stamp can be rewritten while
   * it is held.
   */
  private static Set<LockCapability> withExtension(LockPrimitive locks) {
    EnumSet<LockCapability> all = EnumSet.noneOf(LockCapability.class);
    all.addAll(locks.capabilities());
    if (locks instanceof UndeclaredExtension) {
      all.add(LockCapability.EXTENSION);
    }
    return all;
  }

  /** Starts the second operation when the first one has ended. */
  private static <A, B> CompletableFuture<B> inTurn(
      Supplier<CompletableFuture<A>> operation, Next<A, B> next) {
    return started(operation)
        .handle((result, failure) -> started(() -> next.after(result, failure)))
        .thenCompose(Function.identity());
  }

  /** Starts an operation. An exception, and a future that completes with null, are failures. */
  static <T> CompletableFuture<T> started(Supplier<CompletableFuture<T>> operation) {
    try {
      return operation.get().thenApply(Objects::requireNonNull);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  static <T> CompletableFuture<T> ended(@Nullable T result, @Nullable Throwable failure) {
    return failure == null
        ? CompletableFuture.completedFuture(result)
        : CompletableFuture.failedFuture(failure);
  }
}
