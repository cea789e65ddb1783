package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The manager over any primitive. */
final class CoreLockManager implements LockManager {
  /** More than a thread of this process waits for a processor, on a machine that can serve it. */
  private static final long LATE_NANOS = 1_000_000_000L;

  /** An exception that comes soon is worth more than the holder's label in it. */
  private static final Duration LABEL_PATIENCE = Duration.ofMillis(100);

  private final Surroundings surroundings;
  private final Runnable afterClose;
  private final WaitingLines lines = new WaitingLines();
  private final OpenLeases leases;
  private final Holders holders;

  CoreLockManager(Surroundings surroundings, Runnable afterClose) {
    this.surroundings = surroundings;
    this.afterClose = afterClose;
    this.leases = new OpenLeases(surroundings, lines);
    this.holders =
        new Holders(
            name -> operation(() -> surroundings.primitive().inspect(name)), LABEL_PATIENCE);
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    return await(start(request, request.maxWait().orElse(Duration.ZERO), true));
  }

  @Override
  public Lease acquire(LockRequest request) throws InterruptedException {
    Duration wait = request.maxWait().orElse(ChronoUnit.FOREVER.getDuration());
    Acquisition acquisition = start(request, wait, true);
    Optional<Lease> lease = await(acquisition);
    if (lease.isPresent()) {
      return lease.get();
    }
    throw leases.hold(request.name())
        ? acquisition.unavailable(null, true)
        : acquisition.unavailable(holderOf(request.name()), false);
  }

  private @Nullable String holderOf(String name) throws InterruptedException {
    boolean canLook =
        surroundings.capabilities().contains(LockCapability.INSPECTION) && !leases.closed();
    return canLook ? holders.labelOf(name).orElse(null) : null;
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    Acquisition acquisition;
    try {
      acquisition = start(request, request.maxWait().orElse(Duration.ZERO), false);
    } catch (LockException | IllegalStateException refused) {
      return surroundings.forUser(CompletableFuture.failedFuture(refused));
    } catch (InterruptedException impossible) {
      throw new AssertionError(impossible);
    }
    CompletableFuture<Optional<Lease>> user = new CompletableFuture<>();
    user.whenComplete(
        (lease, failure) -> {
          if (!acquisition.result().isDone()) {
            acquisition.abandon(failure == null ? new CancellationException() : failure);
          }
        });
    acquisition
        .result()
        .whenComplete(
            (lease, failure) ->
                surroundings.callback(
                    () -> {
                      if (failure == null) {
                        hand(user, lease);
                      } else {
                        user.completeExceptionally(Stages.forUser(failure));
                      }
                    }));
    return user;
  }

  @Override
  public Optional<LockStatus> inspect(String name) {
    surroundings.require(LockCapability.INSPECTION, "inspect");
    surroundings.requireName(name);
    requireOpen();
    return surroundings.join(operation(() -> surroundings.primitive().inspect(name)));
  }

  @Override
  public boolean forceRelease(String name) {
    surroundings.require(LockCapability.FORCE_RELEASE, "forceRelease");
    surroundings.requireName(name);
    requireOpen();
    boolean removed =
        surroundings.join(operation(() -> surroundings.primitive().forceRelease(name)));
    leases.doubt(name);
    lines.wake(name, 0);
    return removed;
  }

  @Override
  public Set<LockCapability> capabilities() {
    return surroundings.capabilities();
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    for (Object own : List.of(this, surroundings.primitive())) {
      if (type.isInstance(own)) {
        return Optional.of(type.cast(own));
      }
    }
    return surroundings.primitive().unwrap(type);
  }

  @Override
  public void close() {
    close(Duration.ZERO);
  }

  @Override
  public void close(Duration grace) {
    boolean waits = !grace.isZero() && !grace.isNegative();
    if (!leases.close()) {
      if (!waits) {
        leases.endAll(); // which ends the grace that another thread may be giving them
      }
      return;
    }
    lines.all().forEach(waiting -> waiting.refuse(leases.refusal()));
    if (waits) {
      await(leases.emptied(), Nanos.of(grace), true);
    }
    leases.endAll();
    // an attempt that ends as an outage may have a release behind it
    long longest = 2 * Nanos.of(surroundings.primitive().longestOperation()) + LATE_NANOS;
    await(surroundings.operations().quiet(), longest, false);
    surroundings.primitive().close();
    surroundings.unconfirmed().report();
    afterClose.run();
  }

  private Acquisition start(LockRequest request, Duration wait, boolean callerWaits)
      throws InterruptedException {
    surroundings.requireTtl(request.name(), request.ttl());
    if (request.maxHold().isPresent()) {
      surroundings.require(LockCapability.KEEP_ALIVE, "keepAliveUpTo");
    }
    if (!request.minHold().isZero()) {
      surroundings.require(LockCapability.HOLD_AT_LEAST, "holdAtLeast");
    }
    requireOpen();
    if (callerWaits && Thread.interrupted()) {
      throw new InterruptedException();
    }
    Acquisition acquisition = new Acquisition(surroundings, lines, leases, request, wait);
    acquisition.start(callerWaits);
    if (leases.closed()) {
      acquisition.refuse(leases.refusal());
    }
    return acquisition;
  }

  private Optional<Lease> await(Acquisition acquisition) throws InterruptedException {
    try {
      return acquisition.await();
    } catch (InterruptedException e) {
      acquisition.abandon(e);
      throw e;
    } catch (ExecutionException e) {
      throw Stages.fromHere(e);
    }
  }

  /**
   * Waits at most this long by the scheduler's time, and by the machine's, because the scheduler
   * may have been closed before. Keeps the interrupt flag.
   */
  private void await(CompletableFuture<Void> future, long nanos, boolean interruptible) {
    Scheduler.Task end = surroundings.scheduler().schedule(nanos, () -> future.complete(null));
    long begun = System.nanoTime();
    boolean interrupted = false;
    try {
      while (!interrupted || !interruptible) {
        try {
          future.get(nanos - (System.nanoTime() - begun), TimeUnit.NANOSECONDS);
          return;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (TimeoutException over) {
      // nobody needs to know which of the two it was
    } catch (ExecutionException | CancellationException impossible) {
      throw new AssertionError(impossible);
    } finally {
      end.cancel();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Hands a result to a future that the user may have given up in the meantime. */
  private static void hand(CompletableFuture<Optional<Lease>> user, Optional<Lease> lease) {
    if (!user.complete(lease)) {
      LeaseHandle.takeBack(lease);
    }
  }

  private <T> CompletableFuture<T> operation(Supplier<CompletionStage<T>> operation) {
    surroundings.operations().begin();
    return Stages.start(operation)
        .whenComplete((value, failure) -> surroundings.operations().end());
  }

  private void requireOpen() {
    if (leases.closed()) {
      throw leases.refusal();
    }
  }
}
