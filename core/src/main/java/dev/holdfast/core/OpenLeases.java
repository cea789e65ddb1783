package dev.holdfast.core;

import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Grant;
import java.lang.ref.WeakReference;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The leases of one manager that are held, and whether it still gives out any. */
final class OpenLeases {
  private final Surroundings surroundings;
  private final WaitingLines lines;
  private final Set<HeldLock> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;
  private volatile @Nullable CompletableFuture<Void> emptied;

  OpenLeases(Surroundings surroundings, WaitingLines lines) {
    this.surroundings = surroundings;
    this.lines = lines;
  }

  LeaseHandle open(LockRequest request, Grant grant) {
    HeldLock lock = new HeldLock(surroundings, this, request, grant);
    LeaseHandle lease = new LeaseHandle(surroundings, lock);
    open.add(lock);
    lock.watch();
    if (request.maxHold().isPresent()) {
      lock.keepAlive(new KeepAlive(surroundings, lock, request.ttl(), new WeakReference<>(lease)));
    }
    return lease;
  }

  void ended(HeldLock lock) {
    open.remove(lock);
    CompletableFuture<Void> awaited = emptied;
    if (awaited != null && open.isEmpty()) {
      awaited.complete(null);
    }
  }

  /** Who waits for what is held. */
  WaitingLines lines() {
    return lines;
  }

  boolean closed() {
    return closed;
  }

  /** What a closed manager says to those who ask. */
  IllegalStateException refusal() {
    return new IllegalStateException("this LockManager is closed");
  }

  /** Gives out nothing any more. Returns false if that was so already. */
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Completes when the last lease has ended. */
  CompletableFuture<Void> emptied() {
    CompletableFuture<Void> future = new CompletableFuture<>();
    emptied = future;
    if (open.isEmpty()) {
      future.complete(null);
    }
    return future;
  }

  /** Ends what is still held, for its holders. */
  void endAll() {
    open.forEach(HeldLock::close);
  }
}
