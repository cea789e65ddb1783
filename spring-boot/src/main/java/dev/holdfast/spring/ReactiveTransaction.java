package dev.holdfast.spring;

import dev.holdfast.Lease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/** A transaction of spring-tx that is in the context of a reactive chain. */
final class ReactiveTransaction {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private final TransactionSynchronizationManager manager;

  private ReactiveTransaction(TransactionSynchronizationManager manager) {
    this.manager = manager;
  }

  /** Emits the transaction of the subscriber's chain; empty if there is none. */
  static Mono<Optional<ReactiveTransaction>> current() {
    return TransactionSynchronizationManager.forCurrentTransaction()
        .filter(tx -> tx.isActualTransactionActive() && tx.isSynchronizationActive())
        .map(tx -> Optional.of(new ReactiveTransaction(tx)))
        .onErrorComplete(NoTransactionException.class)
        .defaultIfEmpty(Optional.empty());
  }

  /** Finds the lease that the transaction holds. */
  @Nullable HeldLease held(HeldKey key) {
    return (HeldLease) manager.getResource(key);
  }

  /** Holds a lease until the transaction ends, and checks it right before the commit. */
  void holdUntilEnd(HeldKey key, HeldLease held) {
    Mono<Void> release =
        Mono.defer(
            () -> {
              manager.unbindResourceIfPossible(key);
              return release(held.lease());
            });
    manager.registerSynchronization(new Check(held, release));
    manager.bindResource(key, held);
  }

  /**
   * Rolls the transaction back if the lease is lost when the commit begins: after all work before
   * the commit that is known now.
   */
  void checkBeforeCommit(HeldLease held) {
    List<TransactionSynchronization> known = manager.getSynchronizations();
    boolean isLast =
        !known.isEmpty()
            && known.get(known.size() - 1) instanceof Check check
            && check.held.lease() == held.lease();
    if (!isLast) {
      manager.registerSynchronization(new Check(held, Mono.empty()));
    }
  }

  /** The check of a lease, after all work before the commit that was registered earlier. */
  private static final class Check implements TransactionSynchronization, Ordered {
    private final HeldLease held;
    private final Mono<Void> atEnd;
    private boolean isCommitting;

    /**
     * Describes a check.
     *
     * @param atEnd subscribed when the transaction has ended
     */
    Check(HeldLease held, Mono<Void> atEnd) {
      this.held = held;
      this.atEnd = atEnd;
    }

    @Override
    public int getOrder() {
      return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> beforeCommit(boolean readOnly) {
      return Mono.fromRunnable(
          () -> {
            held.beginCommit();
            isCommitting = true;
          });
    }

    @Override
    public Mono<Void> afterCompletion(int status) {
      return Mono.<Void>fromRunnable(
              () -> {
                if (isCommitting) {
                  held.endCommit();
                }
              })
          .then(atEnd);
    }
  }

  /** Releases a lease, and warns of a loss or of an outage. Never fails, and blocks no thread. */
  private static Mono<Void> release(Lease lease) {
    if (!lease.isHeld()) {
      lease.close(); // warns of the loss, and sends nothing
      return Mono.empty();
    }
    return Mono.fromFuture(lease::releaseAsync, true)
        .doOnNext(
            wasHeld -> {
              if (!wasHeld) {
                LOG.log(
                    Level.WARNING,
                    "the lease on ''{0}'' had been lost before its transaction ended: the work"
                        + " since then was not protected",
                    lease.name());
              }
            })
        .then()
        .onErrorResume(
            failure -> {
              LOG.log(
                  Level.WARNING,
                  "the release of ''{0}'' after its transaction was not confirmed; the lock"
                      + " expires by itself: {1}",
                  lease.name(),
                  failure.getMessage());
              return Mono.empty();
            });
  }
}
