package dev.holdfast.micrometer;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LockedTask;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** A manager that observes the requests and the leases of another manager. */
final class ObservedLockManager implements LockManager {
  private static final String ACQUIRE = "acquire lock";
  private static final String ADOPT = "adopt lock";

  private final LockManager manager;
  private final LockObservations observations;

  ObservedLockManager(LockManager manager, LockObservations observations) {
    this.manager = manager;
    this.observations = observations;
  }

  /** A call that acquires. */
  private interface Call<T, X extends Exception> {
    T run() throws X;
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    return this.<InterruptedException>observe(request, ACQUIRE, () -> manager.tryAcquire(request));
  }

  @Override
  public Lease acquire(LockRequest request) throws InterruptedException {
    return this.<InterruptedException>observe(
            request, ACQUIRE, () -> Optional.of(manager.acquire(request)))
        .orElseThrow();
  }

  @Override
  public Lease adopt(String text, LockRequest request) {
    return this.<RuntimeException>observe(
            request, ADOPT, () -> Optional.of(manager.adopt(text, request)))
        .orElseThrow();
  }

  private <X extends Exception> Optional<Lease> observe(
      LockRequest request, String action, Call<Optional<Lease>, X> call) throws X {
    ObservedRequest observed = new ObservedRequest(observations, request, action);
    Optional<Lease> lease = inScope(observed, call);
    if (lease.isEmpty()) {
      observed.contended();
    }
    return lease.map(observed::granted);
  }

  /** Calls the manager while the request is current. */
  private static <T, X extends Exception> T inScope(ObservedRequest observed, Call<T, X> call)
      throws X {
    try {
      LockObservations.Scope scope = observed.open();
      try {
        return call.run();
      } finally {
        scope.close();
      }
    } catch (Throwable e) {
      observed.failed(e);
      throw e;
    }
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    ObservedRequest observed = new ObservedRequest(observations, request, ACQUIRE);
    return observe(
        observed,
        inScope(observed, () -> manager.tryAcquireAsync(request)),
        Function.identity(),
        Function.identity());
  }

  @Override
  public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    ObservedRequest observed = new ObservedRequest(observations, request, ADOPT);
    return observe(
        observed,
        inScope(observed, () -> manager.adoptAsync(text, request)),
        Optional::of,
        Optional::orElseThrow);
  }

  /**
   * Observes the result before the caller sees it. Returns a lease that the caller does not take.
   */
  private static <T> CompletableFuture<T> observe(
      ObservedRequest observed,
      CompletableFuture<T> inner,
      Function<T, Optional<Lease>> leaseOf,
      Function<Optional<Lease>, T> resultOf) {
    CompletableFuture<T> outer = new CompletableFuture<>();
    outer.whenComplete((result, failure) -> inner.cancel(false));
    inner.whenComplete(
        (result, failure) -> {
          if (failure != null) {
            Throwable cause = causeOf(failure);
            observed.failed(cause);
            outer.completeExceptionally(cause);
            return;
          }
          Optional<Lease> lease = leaseOf.apply(result);
          if (lease.isEmpty()) {
            observed.contended();
          }
          Optional<Lease> own = lease.map(observed::granted);
          if (!outer.complete(resultOf.apply(own))) {
            own.ifPresent(Lease::releaseAsync);
          }
        });
    return outer;
  }

  @Override
  public <T, X extends Exception> T executeLocked(LockRequest request, LockedTask<T, X> task)
      throws InterruptedException, X {
    return LockManager.super.<T, X>executeLocked(request, lease -> inHold(lease, task));
  }

  @Override
  public <T, X extends Exception> Optional<T> tryExecuteLocked(
      LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
    return LockManager.super.<T, X>tryExecuteLocked(request, lease -> inHold(lease, task));
  }

  /** Calls the task while the hold is current. */
  private static <T, X extends Exception> T inHold(Lease lease, LockedTask<T, X> task)
      throws InterruptedException, X {
    LockObservations.Scope scope = ((ObservedLease) lease).open();
    try {
      return task.call(lease);
    } finally {
      scope.close();
    }
  }

  @Override
  public LockListener.Registration addListener(LockListener listener) {
    return manager.addListener(listener);
  }

  @Override
  public List<LockNode> nodes() {
    return manager.nodes();
  }

  @Override
  public List<HeldLock> leases() {
    return manager.leases();
  }

  @Override
  public void check(LockRequest request) {
    manager.check(request);
  }

  @Override
  public boolean ping(Duration timeout) {
    return manager.ping(timeout);
  }

  @Override
  public Optional<LockStatus> inspect(String name) {
    return manager.inspect(name);
  }

  @Override
  public boolean forceRelease(String name) {
    return manager.forceRelease(name);
  }

  @Override
  public Set<LockCapability> capabilities() {
    return manager.capabilities();
  }

  @Override
  public String backend() {
    return manager.backend();
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return manager.unwrap(type);
  }

  @Override
  public void close() {
    manager.close();
  }

  @Override
  public void close(Duration grace) {
    manager.close(grace);
  }

  private static Throwable causeOf(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }
}
