package dev.holdfast.micrometer;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LossReason;
import dev.holdfast.spi.LeaseDecorator;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lease that ends the observation of its hold when it ends. */
final class ObservedLease implements LeaseDecorator {
  private final Lease lease;
  private final ObservedHold hold;

  ObservedLease(Lease lease, ObservedHold hold) {
    this.lease = lease;
    this.hold = hold;
    lease.onLoss().thenAccept(hold::lost);
  }

  LockObservations.Scope open() {
    return hold.open();
  }

  @Override
  public Lease decorated() {
    return lease;
  }

  @Override
  public String transfer(Duration within) {
    try {
      String text = lease.transfer(within);
      hold.transferred();
      return text;
    } catch (LockLostException e) {
      hold.lost(e);
      throw e;
    }
  }

  /** Observes the future of the lease, so that cancelling it means what it means there. */
  @Override
  public CompletableFuture<String> transferAsync(Duration within) {
    CompletableFuture<String> future = lease.transferAsync(within);
    future.whenComplete((text, failure) -> onTransferAnswered(failure));
    return future;
  }

  private void onTransferAnswered(@Nullable Throwable failure) {
    if (failure == null) {
      hold.transferred();
    } else if (failure instanceof LockLostException loss) {
      hold.lost(loss);
    } else if (failure instanceof CancellationException) {
      hold.released(null); // the manager releases a lock whose text is not taken
    }
  }

  @Override
  public boolean release() {
    try {
      boolean wasHeld = lease.release();
      onReleaseAnswered(wasHeld, null);
      return wasHeld;
    } catch (LockOutageException e) {
      onReleaseAnswered(true, e);
      throw e;
    }
  }

  @Override
  public CompletableFuture<Boolean> releaseAsync() {
    CompletableFuture<Boolean> future = lease.releaseAsync();
    future.whenComplete(
        (wasHeld, failure) -> onReleaseAnswered(failure != null || wasHeld, failure));
    return future;
  }

  private void onReleaseAnswered(boolean wasHeld, @Nullable Throwable failure) {
    if (wasHeld) {
      hold.released(failure instanceof CancellationException ? null : failure);
      return;
    }
    try {
      lease.requireHeld();
    } catch (LockLostException e) {
      hold.lost(e);
    } catch (IllegalStateException released) {
      hold.lost(LossReason.REMOVED); // its keys were gone when they should have been removed
    }
  }

  /** Asks first whether the lease is held, because {@code close} does not say so. */
  @Override
  public void close() {
    @Nullable Runnable end = endOfClose();
    lease.close();
    if (end != null) {
      end.run();
    }
  }

  private @Nullable Runnable endOfClose() {
    try {
      lease.requireHeld();
      return () -> hold.released(null);
    } catch (LockLostException e) {
      return () -> hold.lost(e);
    } catch (IllegalStateException released) {
      return null; // another call ended it, and observes its answer
    }
  }
}
