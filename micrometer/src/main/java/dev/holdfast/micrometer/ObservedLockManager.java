package dev.holdfast.micrometer;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockedTask;
import dev.holdfast.spi.LeaseDelivery;
import dev.holdfast.spi.LockManagerDecorator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A manager that observes the requests and the leases of another manager. */
final class ObservedLockManager implements LockManagerDecorator {
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
  public LockManager decorated() {
    return manager;
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
    return answered(observed, inScope(observed, call));
  }

  private static Optional<Lease> answered(ObservedRequest observed, Optional<Lease> lease) {
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
    return LeaseDelivery.deliver(
        inScope(observed, () -> manager.tryAcquireAsync(request)),
        lease -> answered(observed, lease),
        observed::failed,
        Function.identity());
  }

  @Override
  public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    ObservedRequest observed = new ObservedRequest(observations, request, ADOPT);
    return LeaseDelivery.deliver(
        inScope(observed, () -> manager.adoptAsync(text, request)),
        observed::granted,
        observed::failed,
        Optional::of);
  }

  @Override
  public <T, X extends Exception> T executeLocked(LockRequest request, LockedTask<T, X> task)
      throws InterruptedException, X {
    return LockManagerDecorator.super.<T, X>executeLocked(request, lease -> inHold(lease, task));
  }

  @Override
  public <T, X extends Exception> Optional<T> tryExecuteLocked(
      LockRequest request, LockedTask<T, X> task) throws InterruptedException, X {
    return LockManagerDecorator.super.<T, X>tryExecuteLocked(request, lease -> inHold(lease, task));
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
}
