package dev.holdfast.spring;

import dev.holdfast.Lease;
import dev.holdfast.spi.LeaseDelivery;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The place of one lock in a reactive transaction. It is bound before the lock is acquired, so that
 * calls at the same time share one lease, and a lease that arrives after the end of the transaction
 * is released at once. Each transition is one change of {@link #state}. Safe for use by many
 * threads.
 */
final class LeaseSlot {
  private static final Logger LOG = System.getLogger(Lease.class.getName());

  private sealed interface State {}

  private enum Phase implements State {
    /** No lease is held: no call has acquired one, or the last attempt failed. */
    FREE,
    /** The transaction has ended. */
    ENDED
  }

  /**
   * A call acquires the lock.
   *
   * @param outcome the lease, or empty if the call was cancelled
   */
  private record Acquiring(CompletableFuture<Optional<HeldLease>> outcome) implements State {}

  /** The transaction holds the lease. */
  private record Holding(HeldLease held) implements State {}

  private final String name;
  private final AtomicReference<State> state = new AtomicReference<>(Phase.FREE);

  LeaseSlot(String name) {
    this.name = name;
  }

  /** Returns the lease of the transaction, also one that is over, or null if there is none. */
  @Nullable HeldLease held() {
    return state.get() instanceof Holding holding ? holding.held() : null;
  }

  boolean hasEnded() {
    return state.get() == Phase.ENDED;
  }

  /**
   * Emits the lease of the transaction, also one that is over. The first call acquires it. A call
   * at the same time waits for the lease, and fails as the first call does. If the first call is
   * cancelled, the next one acquires.
   *
   * @param acquire subscribed by the call that acquires
   */
  Mono<HeldLease> lease(Mono<HeldLease> acquire) {
    return Mono.defer(
        () -> {
          Acquiring attempt = new Acquiring(new CompletableFuture<>());
          State before = state.getAndUpdate(now -> now == Phase.FREE ? attempt : now);
          if (before == Phase.FREE) {
            return acquiring(attempt, acquire);
          } else if (before instanceof Acquiring other) {
            return Mono.fromFuture(other.outcome(), true)
                .flatMap(found -> found.map(Mono::just).orElseGet(() -> lease(acquire)));
          }
          return before instanceof Holding holding
              ? Mono.just(holding.held())
              : Mono.error(ended());
        });
  }

  /**
   * Ends the slot with its transaction, and releases the lease, once. Never fails, and blocks no
   * thread.
   */
  Mono<Void> end() {
    return Mono.defer(
        () -> {
          State before = state.getAndSet(Phase.ENDED);
          if (before instanceof Acquiring attempt) {
            attempt.outcome().completeExceptionally(ended());
          }
          return before instanceof Holding holding ? release(holding.held().lease()) : Mono.empty();
        });
  }

  /** Calls at the same time are completed after the signal to the call that acquires. */
  private Mono<HeldLease> acquiring(Acquiring attempt, Mono<HeldLease> acquire) {
    return acquire
        .flatMap(held -> arrived(attempt, held))
        .onErrorResume(failure -> failed(attempt, failure))
        .doOnCancel(
            () -> {
              state.compareAndSet(attempt, Phase.FREE);
              attempt.outcome().complete(Optional.empty());
            });
  }

  private Mono<HeldLease> arrived(Acquiring attempt, HeldLease held) {
    if (state.compareAndSet(attempt, new Holding(held))) {
      return Mono.just(held).doAfterTerminate(() -> attempt.outcome().complete(Optional.of(held)));
    }
    LeaseDelivery.releaseUnclaimed(held.lease());
    return Mono.error(ended());
  }

  private Mono<HeldLease> failed(Acquiring attempt, Throwable failure) {
    state.compareAndSet(attempt, Phase.FREE);
    return Mono.<HeldLease>error(failure)
        .doAfterTerminate(() -> attempt.outcome().completeExceptionally(failure));
  }

  private IllegalStateException ended() {
    return new IllegalStateException(
        "the transaction ended before the lock '"
            + name
            + "' was acquired, and the work did not run; make the call part of the transaction's"
            + " chain");
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
