package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.Locks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction of a thread, in a transaction manager with {@link CommitCheckListener}. Knows the
 * leases that the transaction holds and those that its commit needs.
 *
 * <p>When another transaction manager begins a transaction inside, Spring suspends the callbacks of
 * this one, although its connection stays bound and the work still writes to it. So the
 * transactions of a thread form a list, the innermost first, in which each knows its resource.
 */
final class CheckedTransaction implements TransactionSynchronization {
  /** The end of a transaction, after all callbacks that were registered before its completion. */
  private record End(CheckedTransaction transaction) implements TransactionSynchronization {
    @Override
    public void afterCompletion(int status) {
      transaction.end();
    }
  }

  /**
   * The check before all callbacks of the commit: Spring's default commits although a callback
   * throws a {@code TransactionException}, and then asks no listener.
   */
  private record FirstCheck() implements TransactionSynchronization {
    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      requireAllHeld();
    }
  }

  private static final ThreadLocal<@Nullable CheckedTransaction> INNERMOST = new ThreadLocal<>();

  private final PlatformTransactionManager manager;
  private final TransactionExecution execution;
  private final @Nullable CheckedTransaction outer;

  /** The resource that the transaction has bound to the thread, or null if it is not known. */
  private final @Nullable Object resource;

  private final Set<Lease> leases = Collections.newSetFromMap(new IdentityHashMap<>());
  private final List<LeaseHold> holds = new ArrayList<>();
  private boolean isSuspended;
  private boolean isCompleting;
  private Locks.@Nullable InterruptShield shield;
  private volatile boolean hasEnded;

  private CheckedTransaction(
      PlatformTransactionManager manager,
      TransactionExecution execution,
      @Nullable CheckedTransaction outer) {
    this.manager = manager;
    this.execution = execution;
    this.outer = outer;
    this.resource = boundResource(manager);
  }

  private static @Nullable Object boundResource(PlatformTransactionManager manager) {
    return manager instanceof ResourceTransactionManager known
        ? TransactionSynchronizationManager.getResource(known.getResourceFactory())
        : null;
  }

  /** Begins with a transaction of this thread, which is the innermost. */
  static CheckedTransaction begin(
      PlatformTransactionManager manager, TransactionExecution execution) {
    CheckedTransaction begun = new CheckedTransaction(manager, execution, innermost());
    TransactionSynchronizationManager.registerSynchronization(begun);
    TransactionSynchronizationManager.registerSynchronization(new FirstCheck());
    INNERMOST.set(begun);
    return begun;
  }

  /** Ends a transaction whose callbacks were not called, because resuming it has failed. */
  static void endOf(TransactionExecution execution) {
    for (CheckedTransaction at = innermost(); at != null; at = at.outer) {
      if (at.execution == execution) {
        at.end();
      }
    }
  }

  /** Returns the innermost transaction of this thread that has not ended, also a suspended one. */
  private static @Nullable CheckedTransaction innermost() {
    endCompleted();
    return INNERMOST.get();
  }

  /** Ends the innermost transactions of this thread that Spring has completed. */
  static void endCompleted() {
    CheckedTransaction at = INNERMOST.get();
    while (at != null && at.isOver()) {
      at.endHolds();
      at.closeShield();
      at = at.outer;
    }
    if (at == null) {
      INNERMOST.remove();
    } else {
      INNERMOST.set(at);
    }
  }

  /** Returns the transaction whose callbacks are active, or null if it is not checked. */
  static @Nullable CheckedTransaction current() {
    CheckedTransaction innermost = innermost();
    return innermost != null
            && !innermost.isSuspended
            && TransactionSynchronizationManager.isSynchronizationActive()
            && (!innermost.isCompleting || innermost.hasCallbacks())
        ? innermost
        : null;
  }

  /** Returns whether its callbacks are those of the thread: a new transaction may have begun. */
  private boolean hasCallbacks() {
    return TransactionSynchronizationManager.getSynchronizations().contains(this);
  }

  /** Returns the outermost transaction to which this thread writes, or null if there is none. */
  static @Nullable CheckedTransaction outermost() {
    CheckedTransaction outermost = null;
    for (CheckedTransaction at = innermost(); at != null; at = at.outer) {
      if (at.takesWork()) {
        outermost = at;
      }
    }
    return outermost;
  }

  /**
   * Checks the leases under which this thread works, and those of all transactions to which it
   * writes.
   */
  static void requireAllHeld() {
    Locks.requireNoneLost();
    for (CheckedTransaction at = innermost(); at != null; at = at.outer) {
      if (at.takesWork()) {
        at.leases.forEach(TransactionLease::requireHeld);
      }
    }
  }

  /** Returns whether this thread writes to the transaction now. */
  private boolean takesWork() {
    if (isOver()) {
      return false;
    }
    return isSuspended ? hasItsResource() : this == current();
  }

  /**
   * Returns whether only the callbacks are suspended. Without a known resource, as with JTA, a
   * transaction is suspended as a whole by a new one of the same manager, or by none in its place.
   */
  private boolean hasItsResource() {
    if (resource != null) {
      return boundResource(manager) == resource;
    }
    for (CheckedTransaction at = INNERMOST.get(); at != null && at != this; at = at.outer) {
      if (at.manager == manager && !at.isOver()) {
        return false;
      }
    }
    return !TransactionSynchronizationManager.isSynchronizationActive()
        || TransactionSynchronizationManager.isActualTransactionActive();
  }

  /** Has the commit check a lease. */
  void check(Lease lease) {
    leases.add(lease);
  }

  /**
   * Ends a hold with the transaction, and has the commit check its lease.
   *
   * @throws IllegalStateException if the transaction has ended, on another thread
   */
  synchronized void hold(LeaseHold hold) {
    if (hasEnded) {
      throw new IllegalStateException(
          "the transaction ended before the lock '"
              + hold.lease().name()
              + "' was acquired, and the work did not run");
    }
    check(hold.lease());
    holds.add(hold);
  }

  private boolean isOver() {
    return hasEnded || execution.isCompleted();
  }

  @Override
  public void suspend() {
    isSuspended = true;
  }

  @Override
  public void resume() {
    isSuspended = false;
  }

  /**
   * Postpones interrupts, because the transaction now commits or rolls back, and no loss may
   * interrupt that.
   */
  @Override
  public void beforeCompletion() {
    shield = Locks.postponeInterrupts();
    TransactionSynchronizationManager.registerSynchronization(new End(this));
    isCompleting = true;
  }

  /** Ends the transaction unless {@link End} does, for a transaction that ends by itself. */
  @Override
  public void afterCompletion(int status) {
    if (!isCompleting) {
      end();
    }
  }

  private void end() {
    endHolds();
    closeShield();
    endCompleted();
  }

  private void closeShield() {
    if (shield != null) {
      shield.close();
    }
  }

  /**
   * Ends the holds. Called on any thread: some transactions end on another one when they time out.
   */
  private void endHolds() {
    List<LeaseHold> ended;
    synchronized (this) {
      hasEnded = true;
      ended = List.copyOf(holds);
      holds.clear();
    }
    ended.forEach(LeaseHold::end);
  }
}
