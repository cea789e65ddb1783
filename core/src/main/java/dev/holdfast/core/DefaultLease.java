package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * The lease that a user holds. The manager has no strong reference to it, so that a lease which the
 * program can no longer reach is noticed.
 */
final class DefaultLease implements Lease {
  private static final Logger LOG = System.getLogger(Lease.class.getName());
  private static final Duration ANY_TTL = Duration.ofSeconds(1);

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
  public void holdAtLeast(Duration minimum) {
    context.require(LockCapability.HOLD_AT_LEAST, "holdAtLeast");
    LockRequest checked = LockRequest.of(name(), ANY_TTL).holdAtLeast(minimum);
    lock.holdAtLeast(checked.holdAtLeast());
  }

  @Override
  public String transfer(Duration within) {
    Listeners.requireOutside("transfer");
    requireTransferable(within);
    return context.joinOrFail(transferred(within), text -> lock.releaseUnclaimed());
  }

  @Override
  public CompletableFuture<String> transferAsync(Duration within) {
    try {
      requireTransferable(within);
    } catch (LockException refused) {
      return context.forUser(CompletableFuture.failedFuture(refused));
    }
    return context.forUser(transferred(within), text -> lock.releaseUnclaimed());
  }

  /** Returns the text of the transferred lock. A caller who gives it up must release the lock. */
  private CompletableFuture<String> transferred(Duration within) {
    return lock.transfer(within)
        .thenApply(
            done ->
                new TransferText(context.primitive().transferScope(), name(), token()).encoded());
  }

  @Override
  public boolean release() {
    Listeners.requireOutside("release");
    releaseAsked = true;
    return context.join(context.primitive().lendThread(lock::release));
  }

  @Override
  public CompletableFuture<Boolean> releaseAsync() {
    releaseAsked = true;
    return context.forUser(lock.release());
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
    unclaimed.ifPresent(lease -> ((DefaultLease) lease).releaseUnclaimed());
  }

  /** Releases this lease, which no caller took. */
  void releaseUnclaimed() {
    lock.releaseUnclaimed();
  }

  private void requireTransferable(Duration within) {
    context.require(LockCapability.TRANSFER, "transfer");
    context.requireWithin(name(), within);
  }

  private void requireExtendable(Duration ttl) {
    context.require(LockCapability.EXTENSION, "extend");
    context.requireTtl(name(), ttl);
  }
}
