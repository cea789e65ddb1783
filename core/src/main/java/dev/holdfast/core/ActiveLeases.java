package dev.holdfast.core;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Release;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The leases of one manager that are held, and whether it still gives out any. */
final class ActiveLeases {
  private final ManagerContext context;
  private final WaitQueues queues;
  private final Set<LeaseState> open = ConcurrentHashMap.newKeySet();

  /** The newest lease of each name. The release of an older one may still be in flight. */
  private final Map<String, LeaseState> newest = new ConcurrentHashMap<>();

  private final SleepWatch sleepWatch;
  private volatile boolean closed;
  private volatile @Nullable CompletableFuture<Void> whenEmpty;

  ActiveLeases(ManagerContext context, WaitQueues queues) {
    this.context = context;
    this.queues = queues;
    this.sleepWatch =
        new SleepWatch(context, () -> !open.isEmpty(), () -> open.forEach(LeaseState::watch));
  }

  /**
   * Makes a lease of a grant. If that fails, the lock is released, because no lease refers to it.
   *
   * @param attemptedAt when the attempt began that got the lock, by the clock's nanoseconds
   * @param result the result of the request, which is not completed yet, or null if nothing of the
   *     lease is reported
   */
  DefaultLease open(
      LockRequest request,
      Grant grant,
      int handoffs,
      long attemptedAt,
      @Nullable CompletableFuture<Optional<Lease>> result) {
    LeaseReport report = ReportedResult.lease(result);
    LeaseState lock = leaseState(request, grant, handoffs, report);
    try {
      ReportedResult.granted(result, report, grant, lock.grantedAt());
      return open(lock, attemptedAt, report);
    } catch (RuntimeException | Error e) {
      lock.releaseUnclaimed();
      throw e;
    }
  }

  private LeaseState leaseState(
      LockRequest request, Grant grant, int handoffs, LeaseReport report) {
    try {
      return new LeaseState(context, this, request, grant, handoffs, report);
    } catch (RuntimeException | Error e) {
      InFlightOperations operations = context.operations();
      operations.begin();
      Release release = Release.deletionOf(grant);
      Futures.start(() -> context.primitive().release(release))
          .whenComplete((released, failure) -> operations.end());
      throw e;
    }
  }

  private DefaultLease open(LeaseState lock, long attemptedAt, LeaseReport report) {
    DefaultLease lease = new DefaultLease(context, lock);
    open.add(lock);
    sleepWatch.begin();
    newest.put(lock.grant().name(), lock);
    report.drain(); // once the manager shows the lease, and before a timer can report more of it
    lock.watch();
    lock.keepAlive(lease, attemptedAt);
    return lease;
  }

  void onEnded(LeaseState lock) {
    open.remove(lock);
    newest.remove(lock.grant().name(), lock);
    CompletableFuture<Void> awaited = whenEmpty;
    if (awaited != null && open.isEmpty()) {
      awaited.complete(null);
    }
  }

  /** Returns the waiters for these and other names. */
  WaitQueues queues() {
    return queues;
  }

  /** Tells whether one of them holds this name, if known here: its keys may be gone. */
  boolean isHeldLocally(String name) {
    LeaseState lock = newest.get(name);
    return lock != null && lock.isHeld();
  }

  /** Returns a task that forgets the present lease on a name, whose keys an operator removes. */
  Runnable invalidating(String name) {
    LeaseState lock = newest.get(name);
    return lock == null ? () -> {} : () -> newest.remove(name, lock);
  }

  boolean closed() {
    return closed;
  }

  /** Returns the exception of calls after the manager was closed. */
  IllegalStateException refusal() {
    return new ManagerClosedException();
  }

  /** Returns the locks that are held now. */
  List<HeldLock> held() {
    return open.stream().flatMap(lock -> lock.shown().stream()).toList();
  }

  /** Gives out nothing any more. Returns false if that was so already. */
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Completes when the last lease has ended. */
  CompletableFuture<Void> whenEmpty() {
    CompletableFuture<Void> future = new CompletableFuture<>();
    whenEmpty = future;
    if (open.isEmpty()) {
      future.complete(null);
    }
    return future;
  }

  /** Ends what is still held, for its holders. */
  void endAll() {
    open.forEach(LeaseState::close);
  }
}
