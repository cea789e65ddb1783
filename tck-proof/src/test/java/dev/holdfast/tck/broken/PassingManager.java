package dev.holdfast.tck.broken;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.spi.LockManagerDecorator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** Passes everything on to a right manager. */
class PassingManager implements LockManagerDecorator {
  final LockManager right;

  PassingManager(LockManager right) {
    this.right = right;
  }

  /** Makes a manager that changes each lease, and passes on all else. */
  static PassingManager withLeases(LockManager right, UnaryOperator<Lease> change) {
    return new PassingManager(right) {
      @Override
      Lease lease(Lease granted) {
        return change.apply(granted);
      }
    };
  }

  @Override
  public LockManager decorated() {
    return right;
  }

  /** Returns the request that goes to the right manager. */
  LockRequest request(LockRequest asked) {
    return asked;
  }

  /** Returns the lease that the user gets in the place of a right one. */
  Lease lease(Lease granted) {
    return granted;
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    return right.tryAcquire(request(request)).map(this::lease);
  }

  @Override
  public Lease acquire(LockRequest request) throws InterruptedException {
    return lease(right.acquire(request(request)));
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    return new Passed(right.tryAcquireAsync(request(request)));
  }

  @Override
  public Lease adopt(String text, LockRequest request) {
    return lease(right.adopt(text, request(request)));
  }

  /** The future is the right one, so that the lease is, too. */
  @Override
  public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    return right.adoptAsync(text, request(request));
  }

  /** A right future except for its lease: to complete or cancel this one is to do so to that. */
  private final class Passed extends CompletableFuture<Optional<Lease>> {
    private final CompletableFuture<Optional<Lease>> future;

    Passed(CompletableFuture<Optional<Lease>> future) {
      this.future = future;
      future.whenComplete(
          (lease, failure) -> {
            if (failure == null) {
              super.complete(lease.map(PassingManager.this::lease));
            } else {
              super.completeExceptionally(failure);
            }
          });
    }

    @Override
    public boolean complete(Optional<Lease> value) {
      return future.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
      return future.completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      return future.cancel(mayInterruptIfRunning);
    }
  }
}
