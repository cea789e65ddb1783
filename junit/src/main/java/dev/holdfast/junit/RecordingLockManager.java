package dev.holdfast.junit;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.LeaseHandover;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

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
    return LeaseHandover.handOver(
        inner,
        result -> {
          entry.end(leaseOf.apply(result));
          return result;
        },
        failure -> entry.endWithoutLease(),
        leaseOf);
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
}
