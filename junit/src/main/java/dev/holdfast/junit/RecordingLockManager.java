package dev.holdfast.junit;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.spi.LeaseDelivery;
import dev.holdfast.spi.LockManagerDecorator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A manager that writes each request and each lease of another manager to a journal. */
final class RecordingLockManager implements LockManagerDecorator {
  private final LockManager manager;
  private final LockJournal journal;

  RecordingLockManager(LockManager manager, LockJournal journal) {
    this.manager = manager;
    this.journal = journal;
  }

  @Override
  public LockManager decorated() {
    return manager;
  }

  @Override
  public Optional<Lease> tryAcquire(LockRequest request) throws InterruptedException {
    LockJournal.Entry entry = journal.begin(request);
    try {
      Optional<Lease> lease = manager.tryAcquire(request);
      entry.end(lease);
      return lease;
    } finally {
      entry.endWithoutLease();
    }
  }

  @Override
  public Lease acquire(LockRequest request) throws InterruptedException {
    LockJournal.Entry entry = journal.begin(request);
    try {
      Lease lease = manager.acquire(request);
      entry.end(Optional.of(lease));
      return lease;
    } finally {
      entry.endWithoutLease();
    }
  }

  /** Records the lease before the caller sees it. Returns a lease that the caller does not take. */
  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(LockRequest request) {
    LockJournal.Entry entry = journal.begin(request);
    return recorded(entry, manager.tryAcquireAsync(request), lease -> lease);
  }

  @Override
  public Lease adopt(String text, LockRequest request) {
    LockJournal.Entry entry = journal.begin(request);
    try {
      Lease lease = manager.adopt(text, request);
      entry.end(Optional.of(lease));
      return lease;
    } finally {
      entry.endWithoutLease();
    }
  }

  @Override
  public CompletableFuture<Lease> adoptAsync(String text, LockRequest request) {
    LockJournal.Entry entry = journal.begin(request);
    return recorded(entry, manager.adoptAsync(text, request), Optional::of);
  }

  private static <T> CompletableFuture<T> recorded(
      LockJournal.Entry entry, CompletableFuture<T> inner, Function<T, Optional<Lease>> leaseOf) {
    return LeaseDelivery.deliver(
        inner,
        result -> {
          entry.end(leaseOf.apply(result));
          return result;
        },
        failure -> entry.endWithoutLease(),
        leaseOf);
  }
}
