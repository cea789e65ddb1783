package dev.holdfast.core;

import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Release;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The leases of one manager that are held, and whether it still gives out any. */
final class OpenLeases {
  private final Surroundings surroundings;
  private final WaitingLines lines;
  private final Set<HeldLock> open = ConcurrentHashMap.newKeySet();

  /** Of each name; an older one may still be on its way back. */
  private final Map<String, HeldLock> newest = new ConcurrentHashMap<>();

  private final SleepWatch sleepWatch;
  private volatile boolean closed;
  private volatile @Nullable CompletableFuture<Void> emptied;

  OpenLeases(Surroundings surroundings, WaitingLines lines) {
    this.surroundings = surroundings;
    this.lines = lines;
    this.sleepWatch =
        new SleepWatch(
            surroundings, () -> !open.isEmpty(), () -> open.forEach(HeldLock::watchAnew));
  }

  /**
   * Takes a grant in. If that fails, the lock is given back, because no lease refers to it.
   *
   * @param begunAt when the attempt began that got the lock, by the clock's nanoseconds
   */
  LeaseHandle open(LockRequest request, Grant grant, int inRow, long begunAt) {
    HeldLock lock = heldLock(request, grant, inRow);
    try {
      return open(request, lock, begunAt);
    } catch (RuntimeException | Error e) {
      lock.takeBack();
      throw e;
    }
  }

  private HeldLock heldLock(LockRequest request, Grant grant, int inRow) {
    try {
      return new HeldLock(surroundings, this, request, grant, inRow);
    } catch (RuntimeException | Error e) {
      Operations operations = surroundings.operations();
      operations.begin();
      Release release = new Release(grant, Duration.ZERO, false, false);
      Stages.start(() -> surroundings.primitive().release(release))
          .whenComplete((released, failure) -> operations.end());
      throw e;
    }
  }

  private LeaseHandle open(LockRequest request, HeldLock lock, long begunAt) {
    LeaseHandle lease = new LeaseHandle(surroundings, lock);
    open.add(lock);
    sleepWatch.begin();
    newest.put(lock.grant().name(), lock);
    lock.watch();
    if (request.maxHold().isPresent()) {
      lock.keepAlive(
          new KeepAlive(surroundings, lock, request.ttl(), new WeakReference<>(lease)), begunAt);
    }
    return lease;
  }

  void ended(HeldLock lock) {
    open.remove(lock);
    newest.remove(lock.grant().name(), lock);
    CompletableFuture<Void> awaited = emptied;
    if (awaited != null && open.isEmpty()) {
      awaited.complete(null);
    }
  }

  /** Who waits for what is held. */
  WaitingLines lines() {
    return lines;
  }

  /** Whether one of them holds this name, as far as is known here: its keys may be gone. */
  boolean hold(String name) {
    HeldLock lock = newest.get(name);
    return lock != null && lock.phase() instanceof HeldLock.Held;
  }

  /** Somebody has removed the keys of whoever holds this name. */
  void doubt(String name) {
    newest.remove(name);
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
