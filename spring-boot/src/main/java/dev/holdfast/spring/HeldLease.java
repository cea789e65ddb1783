package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.Mono;

/**
 * A lease under which a reactive chain works, and the transactions under it. The commit or the
 * rollback of a transaction goes on when the chain is cancelled, and the release has to wait for
 * it. Each transition is one change of {@link #state}. Safe for use by many threads.
 */
final class HeldLease {
  /**
   * The state.
   *
   * @param transactions how many transactions have begun and not ended
   * @param isEnding whether no further transaction may begin
   */
  private record State(int transactions, boolean isEnding) {}

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
   * Lets a transaction begin. {@link #endTransaction} must follow.
   *
   * @throws dev.holdfast.LockLostException if the lease was lost
   * @throws IllegalStateException if the lease was or will be released
   */
  void beginTransaction() {
    lease.requireHeld();
    State before =
        state.getAndUpdate(now -> now.isEnding() ? now : new State(now.transactions() + 1, false));
    if (before.isEnding()) {
      throw new IllegalStateException(
          "the work under the lock '"
              + lease.name()
              + "' was cancelled before its transaction began");
    }
  }

  void endTransaction() {
    completeIfEnded(state.updateAndGet(now -> new State(now.transactions() - 1, now.isEnding())));
  }

  /**
   * Lets no further transaction begin. Completes when the last one has ended, or when the lease is
   * lost, which bounds the wait for a transaction whose end is never signalled.
   */
  Mono<Void> end() {
    completeIfEnded(state.updateAndGet(now -> new State(now.transactions(), true)));
    return Mono.firstWithSignal(
        Mono.fromFuture(ended, true), Mono.fromFuture(lease::onLoss, true).then());
  }

  private void completeIfEnded(State now) {
    if (now.isEnding() && now.transactions() == 0) {
      ended.complete(null);
    }
  }
}
