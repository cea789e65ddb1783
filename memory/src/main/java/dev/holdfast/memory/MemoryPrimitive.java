package dev.holdfast.memory;

import dev.holdfast.LockCapability;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockPrimitive;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A store as the core sees it. Every operation is over when the call returns. */
record MemoryPrimitive(MemoryStore store, KeyPrefix keyPrefix) implements LockPrimitive {
  private static final Set<LockCapability> CAPABILITIES =
      Set.of(
          LockCapability.EXTENSION,
          LockCapability.OWNER_SAFE_RELEASE,
          LockCapability.HOLD_AT_LEAST,
          LockCapability.INSPECTION,
          LockCapability.FORCE_RELEASE,
          LockCapability.FENCING_TOKEN);

  private record MemoryGrant(
      String name, String token, OptionalLong fencingToken, ClockReading validUntil)
      implements Grant {}

  @Override
  public Set<LockCapability> capabilities() {
    return CAPABILITIES;
  }

  @Override
  public void requireName(String name) {
    keyPrefix.requireName(name);
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    // no ttl is too short for a store that takes no time
  }

  @Override
  public String address() {
    return "memory";
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    ClockReading validUntil = fromNow(attempt.ttl());
    Outcome outcome =
        store
            .take(keyPrefix.keyOf(attempt.name()), attempt.ownerLabel(), validUntil.nanos())
            .<Outcome>map(
                hold ->
                    new MemoryGrant(
                        attempt.name(), hold.token(), OptionalLong.of(hold.fence()), validUntil))
            .orElseGet(() -> new Refusal(new LockVotes(0, 1, 0)));
    return CompletableFuture.completedFuture(outcome);
  }

  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    ClockReading validUntil = fromNow(ttl);
    Extension extension =
        store
            .extend(keyPrefix.keyOf(grant.name()), grant.token(), validUntil.nanos())
            .<Extension>map(Lost::new)
            .orElseGet(() -> new Extended(validUntil));
    return CompletableFuture.completedFuture(extension);
  }

  @Override
  public CompletableFuture<Released> release(Release release) {
    Grant grant = release.grant();
    String key = keyPrefix.keyOf(grant.name());
    Optional<LossReason> loss =
        release.keep().isZero()
            ? store.release(key, grant.token())
            : store.shorten(key, grant.token(), fromNow(release.keep()).nanos());
    return CompletableFuture.completedFuture(new Released(loss, Released.UNKNOWN));
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    return CompletableFuture.completedFuture(
        store
            .status(keyPrefix.keyOf(name))
            .map(s -> new LockStatus(name, s.ownerLabel(), s.remaining(), s.votes())));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    return CompletableFuture.completedFuture(store.remove(keyPrefix.keyOf(name)));
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return type.isInstance(store) ? Optional.of(type.cast(store)) : Optional.empty();
  }

  @Override
  public void close() {
    // what is held is left to expire, and the store may be shared
  }

  private ClockReading fromNow(Duration duration) {
    return store.clock().now().plusNanos(duration.toNanos());
  }
}
