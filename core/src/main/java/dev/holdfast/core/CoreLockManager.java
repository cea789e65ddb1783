package dev.holdfast.core;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockException;
import dev.holdfast.LockListener;
import dev.holdfast.LockListener.Registration;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.core.AttemptFailure.Contended;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
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

  /** Looks like no name that an application gives to a lock. */
  private static final String PING = "holdfast-ping";

  private final ManagerContext context;
  private final Runnable afterClose;
  private final WaitQueues queues = new WaitQueues();
  private final ActiveLeases leases;
  private final HolderLabels holders;
  private final Adopter adopter;

  CoreLockManager(ManagerContext context, Runnable afterClose) {
    this.context = context;
    this.afterClose = afterClose;
    this.leases = new ActiveLeases(context, queues);
    this.adopter = new Adopter(context, leases);
    this.holders =
        new HolderLabels(
            name -> operation(() -> context.primitive().inspect(name)), LABEL_PATIENCE);
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    Listeners.requireOutside("tryAcquire");
    return await(startBlocking(request, request.waitAtMost().orElse(Duration.ZERO)));
  }

  @Override
  public Lease acquire(LockRequest request) throws InterruptedException {
    Listeners.requireOutside("acquire");
    Duration wait = request.waitAtMost().orElse(ChronoUnit.FOREVER.getDuration());
    Waiter waiter = startBlocking(request, wait);
    Optional<Lease> lease = await(waiter);
    if (lease.isPresent()) {
      return lease.get();
    }
    boolean isHeldHere = leases.isHeldLocally(request.name());
    String holder = isHeldHere ? null : holderOf(request.name());
    LockVotes votes =
        waiter.failure() instanceof Contended contended ? contended.votes() : LockVotes.NONE;
    throw new LockContendedException(request.name(), votes, waiter.waited(), holder, isHeldHere);
  }

  private @Nullable String holderOf(String name) throws InterruptedException {
    boolean canLook =
        context.capabilities().contains(LockCapability.INSPECTION) && !leases.closed();
    return canLook ? holders.labelOf(name).orElse(null) : null;
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    Waiter waiter;
    try {
      Duration wait = request.waitAtMost().orElse(Duration.ZERO);
      waiter = admit(request, () -> waiter(request, wait));
      start(waiter);
    } catch (LockException | IllegalStateException refused) {
      return context.forUser(CompletableFuture.failedFuture(refused));
    }
    CompletableFuture<Optional<Lease>> user =
        context.forUser(waiter.result(), DefaultLease::releaseUnclaimed);
    user.whenComplete(
        (lease, failure) -> {
          if (!waiter.result().isDone()) {
            waiter.abandon(failure == null ? new CancellationException() : failure);
          }
        });
    return user;
  }

  @Override
  public Lease adopt(String text, LockRequest request) {
    Listeners.requireOutside("adopt");
    return adopter.await(() -> startAdoption(text, request));
  }

  @Override
  public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    return adopter.deliver(() -> startAdoption(text, request));
  }

  @Override
  public Optional<LockStatus> inspect(String name) {
    Listeners.requireOutside("inspect");
    context.require(LockCapability.INSPECTION, "inspect");
    context.requireName(name);
    requireOpen();
    return context.join(operation(() -> context.primitive().inspect(name)));
  }

  @Override
  public boolean forceRelease(String name) {
    Listeners.requireOutside("forceRelease");
    context.require(LockCapability.FORCE_RELEASE, "forceRelease");
    context.requireName(name);
    requireOpen();
    Runnable invalidate = leases.invalidating(name); // and no lease that is granted meanwhile
    boolean removed = context.join(operation(() -> context.primitive().forceRelease(name)));
    invalidate.run();
    queues.wake(name, 0);
    return removed;
  }

  @Override
  public Registration addListener(LockListener listener) {
    Registration added = context.listeners().add(Objects.requireNonNull(listener, "listener"));
    if (!Listeners.isInside()) { // each report could add the next listener, without an end
      context.limiter().load().onListenerAdded();
    }
    return added;
  }

  @Override
  public List<LockNode> nodes() {
    return context.nodes();
  }

  @Override
  public List<HeldLock> leases() {
    return leases.held();
  }

  @Override
  public boolean ping(Duration timeout) {
    Listeners.requireOutside("ping");
    if (timeout.isZero() || timeout.isNegative()) {
      throw new LockConfigurationException(
          "the timeout of ping is " + ManagerContext.text(timeout) + ": give more than zero");
    }
    requireOpen();
    CompletableFuture<Boolean> answered =
        operation(() -> context.primitive().ping(PING))
            .whenComplete((answers, failure) -> context.onPinged(answers));
    return Futures.join(answered, Nanos.of(timeout), () -> false);
  }

  @Override
  public String backend() {
    return context.primitive().backend();
  }

  @Override
  public Set<LockCapability> capabilities() {
    return context.capabilities();
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    for (Object own : List.of(this, context.primitive())) {
      if (type.isInstance(own)) {
        return Optional.of(type.cast(own));
      }
    }
    return context.primitive().unwrap(type);
  }

  @Override
  public void close() {
    close(Duration.ZERO);
  }

  @Override
  public void close(Duration grace) {
    Listeners.requireOutside("close");
    boolean waits = !grace.isZero() && !grace.isNegative();
    if (!leases.close()) {
      if (!waits) {
        leases.endAll(); // which ends the grace that another thread may be giving them
      }
      return;
    }
    try {
      queues.all().forEach(waiting -> waiting.refuse(leases.refusal()));
      if (waits) {
        await(leases.whenEmpty(), Nanos.of(grace), true);
      }
      leases.endAll();
      // an attempt that ends as an outage may have a release behind it
      long longest = 2 * Nanos.of(context.primitive().longestOperation()) + LATE_NANOS;
      await(context.operations().whenIdle(), longest, false);
    } finally { // also if the user's scheduler throws
      closePrimitive();
    }
  }

  private void closePrimitive() {
    try {
      context.primitive().close();
      context.unconfirmed().report();
      reportNodeEvents();
      context.nodeEvents().warnOfDropped();
    } finally { // also if a driver throws, or the user's logger
      afterClose.run();
    }
  }

  /** Reports the last events of nodes. A listener that blocks is waited for only briefly. */
  private void reportNodeEvents() {
    if (context.nodeEvents().isEmpty()) {
      return;
    }
    CompletableFuture<Void> reported = new CompletableFuture<>();
    context
        .scheduler()
        .fork(
            () -> {
              context.nodeEvents().report();
              reported.complete(null);
            });
    await(reported, LATE_NANOS, false);
  }

  @Override
  public void check(LockRequest request) {
    context.requireTtl(request.name(), request.ttl());
    if (request.keepAliveUpTo().isPresent()) {
      context.require(LockCapability.KEEP_ALIVE, "keepAliveUpTo");
    }
    if (!request.holdAtLeast().isZero()) {
      context.require(LockCapability.HOLD_AT_LEAST, "holdAtLeast");
    }
    requireOpen();
  }

  private CompletableFuture<DefaultLease> startAdoption(String text, LockRequest request) {
    String token = admit(request, () -> adopter.tokenIn(text, request));
    return adopter.adopt(token, request);
  }

  /** Starts a request whose caller waits: its thread may be used until the first result. */
  private Waiter startBlocking(LockRequest request, Duration wait) throws InterruptedException {
    Waiter waiter =
        this.<Waiter, InterruptedException>admit(
            request,
            () -> {
              if (Thread.interrupted()) {
                throw new InterruptedException();
              }
              return waiter(request, wait);
            });
    try {
      context.primitive().lendThread(() -> start(waiter));
    } catch (RuntimeException | Error broken) {
      waiter.discard(broken);
      throw broken;
    }
    return waiter;
  }

  private CompletableFuture<Optional<Lease>> start(Waiter waiter) {
    CompletableFuture<Optional<Lease>> result = waiter.start();
    if (leases.closed()) {
      waiter.refuse(leases.refusal());
    }
    return result;
  }

  private Waiter waiter(LockRequest request, Duration wait) {
    return new Waiter(context, queues, leases, request, wait);
  }

  /** The beginning of a request that has passed the checks. It may refuse the request, too. */
  private interface Beginning<T, X extends Exception> {
    T begin() throws X;
  }

  /** Checks a request and begins it. Reports what refuses it. */
  private <T, X extends Exception> T admit(LockRequest request, Beginning<T, X> beginning)
      throws X {
    try {
      check(request);
      return beginning.begin();
    } catch (Throwable refused) {
      ReportedResult.refused(context, request.name(), refused);
      throw refused;
    }
  }

  private Optional<Lease> await(Waiter waiter) throws InterruptedException {
    try {
      return waiter.await();
    } catch (InterruptedException e) {
      waiter.abandon(e);
      throw e;
    } catch (ExecutionException e) {
      throw Futures.fromHere(e);
    }
  }

  /**
   * Waits at most this long by the scheduler's time, and by the machine's, because the scheduler
   * may have been closed before. Keeps the interrupt flag.
   */
  private void await(CompletableFuture<Void> future, long nanos, boolean interruptible) {
    Scheduler.Task end = context.scheduler().schedule(nanos, () -> future.complete(null));
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
      // the caller need not know whether the future or the limit ended the wait
    } catch (ExecutionException | CancellationException impossible) {
      throw new AssertionError(impossible);
    } finally {
      end.cancel();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private <T> CompletableFuture<T> operation(Supplier<CompletableFuture<T>> operation) {
    context.operations().begin();
    return Futures.start(operation).whenComplete((value, failure) -> context.operations().end());
  }

  private void requireOpen() {
    if (leases.closed()) {
      throw leases.refusal();
    }
  }
}
