package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A lease under which a reactive chain works, and the commits under it. A commit that has begun
 * goes on when the chain is cancelled, and the release has to wait for it. Each transition is one
 * change of {@link #state}. Safe for use by many threads.
 */
final class HeldLease {
  /**
   * The state.
   *
   * @param commits how many commits have begun and not ended
   * @param isEnding whether no further commit may begin
   */
  private record State(int commits, boolean isEnding) {}

  private final LockManager manager;
  private final Lease lease;
  private final AtomicReference<State> state = new AtomicReference<>(new State(0, false));
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  HeldLease(LockManager manager, Lease lease) {
    this.manager = manager;
    this.lease = lease;
  }

  LockManager manager() {
    return manager;
  }

  Lease lease() {
    return lease;
  }

  /**
   * Lets a commit begin. {@link #endCommit} must follow.
   *
   * @throws dev.holdfast.LockLostException if the lease was lost
   * @throws IllegalStateException if the lease was or will be released
   */
  void beginCommit() {
    lease.requireHeld();
    State before =
        state.getAndUpdate(now -> now.isEnding() ? now : new State(now.commits() + 1, false));
    if (before.isEnding()) {
      throw new IllegalStateException(
          "the work under the lock '" + lease.name() + "' was cancelled before its commit began");
    }
  }

  void endCommit() {
    completeIfEnded(state.updateAndGet(now -> new State(now.commits() - 1, now.isEnding())));
  }

  /** Lets no further commit begin. Completes when the last one has ended. */
  CompletableFuture<Void> end() {
    completeIfEnded(state.updateAndGet(now -> new State(now.commits(), true)));
    return ended;
  }

  private void completeIfEnded(State now) {
    if (now.isEnding() && now.commits() == 0) {
      ended.complete(null);
    }
  }
}
