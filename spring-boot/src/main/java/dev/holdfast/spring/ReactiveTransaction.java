package dev.holdfast.spring;

import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/** A transaction of spring-tx that is in the context of a reactive chain. */
final class ReactiveTransaction {
  private final TransactionContext context;
  private final TransactionSynchronizationManager manager;

  private ReactiveTransaction(TransactionContext context) {
    this.context = context;
    this.manager = new TransactionSynchronizationManager(context);
  }

  /**
   * Emits the transaction of the subscriber's chain, also one that has committed and runs the
   * callbacks after its commit. Empty if there is none.
   */
  static Mono<Optional<ReactiveTransaction>> current() {
    return TransactionContextManager.currentContext()
        .map(context -> Optional.of(new ReactiveTransaction(context)))
        .onErrorComplete(NoTransactionException.class)
        .defaultIfEmpty(Optional.empty());
  }

  /** Finds the lease that the transaction holds. */
  @Nullable HeldLease held(HeldKey key) {
    synchronized (context) { // calls at the same time: the resources of Spring are a plain map
      return manager.getResource(key) instanceof LeaseSlot slot ? slot.held() : null;
    }
  }

  /**
   * Returns the place of a lock in the transaction, whose lease is held until the transaction ends,
   * and checked right before the commit.
   *
   * @throws IllegalStateException if the transaction is not active
   */
  LeaseSlot slot(HeldKey key) {
    synchronized (context) {
      if (manager.getResource(key) instanceof LeaseSlot slot && !slot.hasEnded()) {
        return slot;
      }
      LeaseSlot slot = new LeaseSlot(key.name());
      manager.registerSynchronization(new LeaseCheck(slot::held));
      TransactionEnd.register(manager, slot, slot.end().doFirst(() -> unbind(key, slot)));
      manager.unbindResourceIfPossible(key);
      manager.bindResource(key, slot);
      return slot;
    }
  }

  private void unbind(HeldKey key, LeaseSlot slot) {
    synchronized (context) {
      if (manager.getResource(key) == slot) {
        manager.unbindResourceIfPossible(key);
      }
    }
  }

  /**
   * Has the release of a lease after a cancellation wait until the transaction has ended.
   *
   * @throws dev.holdfast.LockLostException if the lease was lost
   * @throws IllegalStateException if the lease was or will be released
   */
  void workUnder(HeldLease held) {
    if (!isActive() || manager.getSynchronizations().stream().anyMatch(isEndOf(held))) {
      return;
    }
    held.beginTransaction();
    try {
      TransactionEnd.register(manager, held, Mono.fromRunnable(held::endTransaction));
    } catch (Throwable notRegistered) {
      held.endTransaction();
      throw notRegistered;
    }
  }

  /**
   * Rolls the transaction back if the lease is lost when the commit begins: after all work before
   * the commit that is known now.
   */
  void checkBeforeCommit(HeldLease held) {
    if (!isActive()) {
      return;
    }
    if (!TransactionLease.isCheckedLast(
        manager.getSynchronizations(), LeaseCheck.class, check -> check.isOf(held))) {
      manager.registerSynchronization(new LeaseCheck(() -> held));
    }
  }

  private static Predicate<TransactionSynchronization> isEndOf(HeldLease held) {
    return each -> each instanceof TransactionEnd end && end.isOf(held);
  }

  /** Returns whether the transaction accepts callbacks: it has begun and not ended. */
  boolean isActive() {
    return manager.isActualTransactionActive() && manager.isSynchronizationActive();
  }
}
