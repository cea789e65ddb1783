package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.util.Optional;
import java.util.concurrent.CompletionException;

/** The calls by which a lock is asked for. Each is empty if another owner holds the lock. */
enum Asking {
  /** {@link LockManager#tryAcquire(LockRequest)}. */
  TRY_ACQUIRE {
    @Override
    Optional<Lease> ask(LockManager locks, LockRequest request) throws InterruptedException {
      return locks.tryAcquire(request);
    }
  },

  /** {@link LockManager#acquire(LockRequest)}. */
  ACQUIRE {
    @Override
    Optional<Lease> ask(LockManager locks, LockRequest request) throws InterruptedException {
      try {
        return Optional.of(locks.acquire(request));
      } catch (LockContendedException e) {
        return Optional.empty();
      }
    }
  },

  /** {@link LockManager#tryAcquireAsync}. */
  TRY_ACQUIRE_ASYNC {
    @Override
    Optional<Lease> ask(LockManager locks, LockRequest request) {
      try {
        return locks.tryAcquireAsync(request).join();
      } catch (CompletionException e) {
        if (e.getCause() instanceof LockException cause) {
          throw cause;
        }
        throw e;
      }
    }
  };

  abstract Optional<Lease> ask(LockManager locks, LockRequest request) throws InterruptedException;
}
