package dev.holdfast.junit;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A manager that writes each request and each lease of another manager to a journal. */
final class RecordingLockManager implements LockManager {
  private final LockManager manager;
  private final LockJournal journal;

  RecordingLockManager(LockManager manager, LockJournal journal) {
    this.manager = manager;
    this.journal = journal;
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
    CompletableFuture<Optional<Lease>> inner = manager.tryAcquireAsync(request);
    CompletableFuture<Optional<Lease>> outer = new CompletableFuture<>();
    outer.whenComplete((lease, failure) -> inner.cancel(false));
    inner.whenComplete(
        (lease, failure) -> {
          if (failure != null) {
            entry.endWithoutLease();
            outer.completeExceptionally(causeOf(failure));
          } else {
            entry.end(lease);
            if (!outer.complete(lease)) {
              lease.ifPresent(Lease::releaseAsync);
            }
          }
        });
    return outer;
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
  public <T> Optional<T> unwrap(Class<T> type) {
    return type.isInstance(this) ? Optional.of(type.cast(this)) : manager.unwrap(type);
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
