package dev.holdfast.legacy.migrate;

import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A fake that records its calls and answers as the test says. */
final class ScriptedPrimitive implements LockPrimitive {
  private final String side;
  private final List<String> journal;
  Set<LockCapability> capabilities =
      EnumSet.complementOf(EnumSet.of(LockCapability.FIFO_IN_PROCESS));
  Runnable requireName = () -> {};
  Runnable requireUsable = () -> {};
  Supplier<CompletableFuture<Outcome>> attempt;

  /** The outage that an attempt in flight reports. */
  Supplier<@Nullable LockException> outage = () -> null;

  Supplier<CompletableFuture<Extension>> extend;
  Supplier<CompletableFuture<Optional<LossReason>>> release = () -> now(Optional.empty());
  Supplier<CompletableFuture<Optional<LockStatus>>> inspect = () -> now(Optional.empty());
  Supplier<CompletableFuture<Boolean>> forceRelease = () -> now(false);
  Runnable close = () -> {};

  private record Scripted(
      String name, String token, OptionalLong fencingToken, ClockReading validUntil)
      implements Grant {}

  /**
   * Grants and extends until a time, releases, and knows no holder, unless the test sets another
   * answer.
   *
   * @param side stands in the journal before each call
   * @param journal the calls of several of them, in order
   */
  ScriptedPrimitive(String side, List<String> journal, ClockReading validUntil) {
    this.side = side;
    this.journal = journal;
    this.attempt = () -> now(grantUntil(validUntil));
    this.extend = () -> now(new Extended(validUntil));
  }

  static <T> CompletableFuture<T> now(T answer) {
    return CompletableFuture.completedFuture(answer);
  }

  static <T> Supplier<CompletableFuture<T>> failing(RuntimeException failure) {
    return () -> CompletableFuture.failedFuture(failure);
  }

  Outcome grantUntil(ClockReading validUntil) {
    return new Scripted("name", side + "-token", OptionalLong.of(side.length()), validUntil);
  }

  @Override
  public Set<LockCapability> capabilities() {
    return capabilities;
  }

  @Override
  public void requireName(String name) {
    requireName.run();
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    requireUsable.run();
  }

  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    note("is lent the thread");
    return operation.get();
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt asked) {
    note("attempt");
    asked.progress().outage(outage);
    return attempt.get();
  }

  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    note("extend");
    requireOwn(grant);
    return extend.get();
  }

  @Override
  public CompletableFuture<Released> release(Release asked) {
    Duration keep = asked.keep();
    String call = keep.isZero() ? "release" : "keep " + keep.toSeconds() + "s";
    note(asked.mayLengthen() ? call + " or longer" : call);
    requireOwn(asked.grant());
    return release.get().thenApply(loss -> new Released(loss, Released.UNKNOWN));
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    note("inspect");
    return inspect.get();
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    note("forceRelease");
    return forceRelease.get();
  }

  @Override
  public void close() {
    note("close");
    close.run();
  }

  private void note(String call) {
    journal.add(side + " " + call);
  }

  private void requireOwn(Grant grant) {
    if (!grant.token().equals(side + "-token")) {
      throw new IllegalArgumentException("a grant of the other lock: " + grant);
    }
  }
}
