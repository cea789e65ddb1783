package dev.holdfast.spring;

import dev.holdfast.Lease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The end of a reactive transaction, after all callbacks that were registered earlier. Does one
 * thing, once, whichever way the transaction ends.
 *
 * <p>Spring deactivates the synchronizations before the callbacks after the commit, and if one of
 * them fails, it signals no completion at all. So the end is registered again by {@link
 * AfterCommit}, which comes before these callbacks. Spring signals the completion to it after a
 * failure. After a success {@link #afterCompletion} signals it to the callbacks that were
 * registered since.
 */
final class TransactionEnd implements TransactionSynchronization, Ordered {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private final TransactionSynchronizationManager manager;
  private final Object subject;
  private final Mono<Void> atEnd;
  private final AtomicBoolean hasEnded = new AtomicBoolean();

  private TransactionEnd(
      TransactionSynchronizationManager manager, Object subject, Mono<Void> atEnd) {
    this.manager = manager;
    this.subject = subject;
    this.atEnd = atEnd;
  }

  /**
   * Has something done when a transaction has ended, also if that happens at the same time.
   *
   * @param subject the object that ends with the transaction
   * @param atEnd never fails
   * @throws IllegalStateException if the synchronization of the transaction is not active
   */
  static void register(
      TransactionSynchronizationManager manager, Object subject, Mono<Void> atEnd) {
    TransactionEnd end = new TransactionEnd(manager, subject, atEnd);
    manager.registerSynchronization(end);
    manager.registerSynchronization(new AfterCommit(end));
    if (!manager.isSynchronizationActive()) { // Spring may have copied the callbacks just before
      end.once().subscribe();
    }
  }

  boolean isOf(Object other) {
    return subject == other;
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public Mono<Void> afterCompletion(int status) {
    return once().then(Mono.defer(() -> completeLateCallbacks(status)));
  }

  private Mono<Void> once() {
    return Mono.defer(() -> hasEnded.compareAndSet(false, true) ? atEnd : Mono.empty());
  }

  /** Does nothing unless {@link AfterCommit} has activated the synchronizations again. */
  private Mono<Void> completeLateCallbacks(int status) {
    if (!manager.isSynchronizationActive()) {
      return Mono.empty();
    }
    List<TransactionSynchronization> late = manager.getSynchronizations();
    manager.clearSynchronization();
    return Flux.fromIterable(late)
        .concatMap(
            each ->
                Mono.defer(() -> each.afterCompletion(status))
                    .onErrorResume(
                        failure -> {
                          LOG.log(Level.WARNING, "a callback after a transaction failed", failure);
                          return Mono.empty();
                        }))
        .then();
  }

  /** Comes before all callbacks after the commit, and has the completion signalled if one fails. */
  private record AfterCommit(TransactionEnd end)
      implements TransactionSynchronization, PriorityOrdered {
    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> afterCommit() {
      return Mono.fromRunnable(
          () -> {
            if (!end.manager.isSynchronizationActive()) {
              end.manager.initSynchronization();
            }
            end.manager.registerSynchronization(end);
          });
    }
  }
}
