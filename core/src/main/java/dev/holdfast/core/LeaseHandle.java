package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LossReason;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What a user holds. Nothing inside refers to it strongly, so that a lease which nobody can reach
 * any more is seen to be so.
 */
final class LeaseHandle implements Lease {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private final Surroundings surroundings;
  private final HeldLock lock;
  private volatile boolean releaseAsked;

  LeaseHandle(Surroundings surroundings, HeldLock lock) {
    this.surroundings = surroundings;
    this.lock = lock;
  }

  @Override
  public String name() {
    return lock.grant().name();
  }

  @Override
  public String token() {
    return lock.grant().token();
  }

  @Override
  public OptionalLong fencingToken() {
    return lock.grant().fencingToken();
  }

  @Override
  public Duration remaining() {
    return lock.remaining();
  }

  @Override
  public boolean isHeld() {
    return lock.phase() instanceof HeldLock.Held;
  }

  @Override
  public void requireHeld() {
    lock.requireHeld();
  }

  @Override
  public void extend(Duration ttl) {
    requireExtendable(ttl);
    surroundings.join(lock.extend(ttl));
  }

  @Override
  public CompletionStage<Void> extendAsync(Duration ttl) {
    try {
      requireExtendable(ttl);
    } catch (LockException refused) {
      return surroundings.forUser(CompletableFuture.failedFuture(refused));
    }
    return surroundings.forUser(lock.extend(ttl));
  }

  @Override
  public boolean release() {
    releaseAsked = true;
    return surroundings.join(lock.release(true));
  }

  @Override
  public CompletionStage<Boolean> releaseAsync() {
    releaseAsked = true;
    return surroundings.forUser(lock.release(false));
  }

  @Override
  public CompletionStage<LossReason> lost() {
    return lock.lost();
  }

  @Override
  public void close() {
    if (releaseAsked) {
      return;
    }
    try {
      if (!release() && lock.phase() instanceof HeldLock.Gone gone) {
        LOG.log(
            Level.WARNING,
            "the lease on ''{0}'' had been lost ({1}) {2} ms before it was closed: what was done"
                + " since then was not protected",
            name(),
            gone.reason(),
            Long.toString(surroundings.clock().now().nanosSince(gone.since()) / 1_000_000));
      }
    } catch (LockException unconfirmed) {
      surroundings.unconfirmed().add(name(), unconfirmed);
    }
  }

  @Override
  public String toString() {
    return "Lease[" + name() + ", " + lock.phase() + "]";
  }

  /** What was granted, if anything, was handed to nobody. */
  static void takeBack(Optional<Lease> unclaimed) {
    unclaimed.ifPresent(lease -> ((LeaseHandle) lease).lock.takeBack());
  }

  private void requireExtendable(Duration ttl) {
    surroundings.require(LockCapability.EXTENSION, "extend");
    surroundings.requireTtl(name(), ttl);
  }
}
