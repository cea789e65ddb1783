package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The ways in which a transferred lock is adopted. */
enum Adopting {
  ADOPT {
    @Override
    Lease adopt(TckFixture fixture, LockManager locks, String text, LockRequest request) {
      return locks.adopt(text, request);
    }
  },
  ADOPT_ASYNC {
    @Override
    Lease adopt(TckFixture fixture, LockManager locks, String text, LockRequest request) {
      CompletableFuture<Lease> adoption = locks.adoptAsync(text, request);
      fixture.soon().until("adoptAsync() completes", adoption::isDone);
      try {
        return adoption.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }
  };

  /** Returns the lease. Leaves the test out if there is none, which is another rule's. */
  Lease adoptOrSkip(TckFixture fixture, LockManager locks, String text, LockRequest request) {
    try {
      return adopt(fixture, locks, text, request);
    } catch (RuntimeException e) {
      IgnoredFailures.add(e);
      return AnotherRule.isBroken("a transferred lock cannot be adopted");
    }
  }

  /** Returns the lease, or throws the exception by which the adoption ended. */
  abstract Lease adopt(TckFixture fixture, LockManager locks, String text, LockRequest request);
}
