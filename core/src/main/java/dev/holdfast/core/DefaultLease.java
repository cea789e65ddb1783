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

/**
 * The lease that a user holds. Nothing inside refers to it strongly, so that a lease which nobody
 * can reach any more is seen to be so.
 */
final class DefaultLease implements Lease {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private final ManagerContext context;
  private final LeaseState lock;
  private volatile boolean releaseAsked;

  DefaultLease(ManagerContext context, LeaseState lock) {
    this.context = context;
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
    return lock.isHeld();
  }

  @Override
  public void requireHeld() {
    lock.requireHeld();
  }

  @Override
  public void extend(Duration ttl) {
    Listeners.requireOutside("extend");
    requireExtendable(ttl);
    context.join(lock.extend(ttl));
  }

  @Override
  public CompletableFuture<Void> extendAsync(Duration ttl) {
    try {
      requireExtendable(ttl);
    } catch (LockException refused) {
      return context.forUser(CompletableFuture.failedFuture(refused));
    }
    return context.forUser(lock.extend(ttl));
  }

  @Override
  public boolean release() {
    Listeners.requireOutside("release");
    releaseAsked = true;
    return context.join(lock.release(true));
  }

  @Override
  public CompletableFuture<Boolean> releaseAsync() {
    releaseAsked = true;
    return context.forUser(lock.release(false));
  }

  @Override
  public CompletableFuture<LossReason> onLoss() {
    return lock.onLoss();
  }

  @Override
  public void close() {
    if (releaseAsked) {
      return;
    }
    try {
      if (!release() && lock.current() instanceof GrantState.Lost lost) {
        LOG.log(
            Level.WARNING,
            "the lease on ''{0}'' had been lost ({1}) {2} ms before it was closed: the work since"
                + " then was not protected",
            name(),
            lost.reason(),
            Long.toString(context.clock().now().nanosSince(lost.since()) / 1_000_000));
      }
    } catch (LockException unconfirmed) {
      context.unconfirmed().add(name(), unconfirmed);
    }
  }

  @Override
  public String toString() {
    return "Lease[" + name() + ", " + lock.current() + "]";
  }

  /** Releases a lease, if there is one, that no caller took. */
  static void releaseUnclaimed(Optional<Lease> unclaimed) {
    unclaimed.ifPresent(lease -> ((DefaultLease) lease).lock.releaseUnclaimed());
  }

  private void requireExtendable(Duration ttl) {
    context.require(LockCapability.EXTENSION, "extend");
    context.requireTtl(name(), ttl);
  }
}
