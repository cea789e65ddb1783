package dev.holdfast.memory;

import dev.holdfast.LockCapability;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.LockPrimitive;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A store as the core sees it. Every operation is over when the call returns. */
record MemoryPrimitive(MemoryStore store, KeyPrefix keyPrefix) implements LockPrimitive {
  private static final Set<LockCapability> CAPABILITIES =
      Set.of(
          LockCapability.EXTENSION,
          LockCapability.OWNER_SAFE_RELEASE,
          LockCapability.HOLD_AT_LEAST,
          LockCapability.INSPECTION,
          LockCapability.FORCE_RELEASE,
          LockCapability.FENCING_TOKEN,
          LockCapability.TRANSFER);

  private record MemoryGrant(
      String name, String token, OptionalLong fencingToken, ClockReading validUntil)
      implements Grant {
    /** Returns a text without the token, by which the lock can be released. */
    @Override
    public String toString() {
      return "MemoryGrant[" + name + "]";
    }
  }

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
  public String backend() {
    return "memory";
  }

  @Override
  public String address() {
    return "memory";
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    if (store.isOutage()) {
      return outage("no quorum voted on '" + attempt.name() + "'", false);
    }
    ClockReading validUntil = fromNow(attempt.ttl());
    Outcome outcome =
        store
            .take(keyPrefix.keyOf(attempt.name()), attempt.ownerLabel(), validUntil.nanos())
            .<Outcome>map(hold -> grant(attempt.name(), hold, validUntil))
            .orElseGet(() -> new Refusal(new LockVotes(0, 1, 0)));
    return CompletableFuture.completedFuture(outcome);
  }

  private static MemoryGrant grant(String name, MemoryStore.Hold hold, ClockReading validUntil) {
    return new MemoryGrant(name, hold.token(), OptionalLong.of(hold.fence()), validUntil);
  }

  @Override
  public CompletableFuture<Outcome> adopt(Adoption adoption) {
    Attempt attempt = adoption.attempt();
    if (store.isOutage()) {
      store.release(keyPrefix.keyOf(attempt.name()), adoption.transferredToken());
      String message = "no quorum voted on the adoption of '" + attempt.name() + "'";
      return outage(message + "; its transfer is over", false);
    }
    ClockReading validUntil = fromNow(attempt.ttl());
    MemoryStore.Hold hold = store.newHold(attempt.ownerLabel(), validUntil.nanos());
    Outcome outcome =
        store
            .replace(keyPrefix.keyOf(attempt.name()), adoption.transferredToken(), hold)
            .<Outcome>map(Lost::new)
            .orElseGet(() -> grant(attempt.name(), hold, validUntil));
    return CompletableFuture.completedFuture(outcome);
  }

  @Override
  public String transferScope() {
    return "memory, keyPrefix '" + keyPrefix.text() + "'";
  }

  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    if (store.isOutage()) {
      return outage("no quorum extended the lease on '" + grant.name() + "'", true);
    }
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
    if (store.isOutage()) {
      return outage("no quorum answered the release of '" + grant.name() + "'", true);
    }
    String key = keyPrefix.keyOf(grant.name());
    Optional<LossReason> loss =
        release.keep().isZero()
            ? store.release(key, grant.token())
            : store.keep(
                key, grant.token(), fromNow(release.keep()).nanos(), release.mayLengthen());
    return CompletableFuture.completedFuture(new Released(loss, Released.UNKNOWN));
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    if (store.isOutage()) {
      return outage("no quorum reported the holder of '" + name + "'", false);
    }
    return CompletableFuture.completedFuture(
        store
            .status(keyPrefix.keyOf(name))
            .map(s -> new LockStatus(name, s.ownerLabel(), s.remaining(), s.votes())));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    if (store.isOutage()) {
      return outage("no quorum answered the forced release of '" + name + "'", true);
    }
    return CompletableFuture.completedFuture(store.remove(keyPrefix.keyOf(name)));
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return Stream.of(store, store.clock()).filter(type::isInstance).findFirst().map(type::cast);
  }

  @Override
  public void close() {
    // held locks are left to expire, and the store may be shared
  }

  private static <T> CompletableFuture<T> outage(String message, boolean outcomeUnknown) {
    Throwable cause = new IllegalStateException("a test called MemoryStore.outage(true)");
    return CompletableFuture.failedFuture(
        new LockOutageException(
            message + " (0 of 1 nodes answered)", Map.of("memory", cause), outcomeUnknown));
  }

  private ClockReading fromNow(Duration duration) {
    return store.clock().now().plusNanos(duration.toNanos());
  }
}
