package dev.holdfast.reactor;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.spi.LeaseDelivery;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * One subscriber's request for a lease. Every transition is a compare-and-set on the state. A lease
 * that arrives after the cancellation is released. Safe for use by many threads.
 */
final class LeaseSubscription implements Subscription {
  private final LockManager manager;
  private final LockRequest request;
  private final Subscriber<? super Lease> subscriber;
  private final AtomicReference<State> state = new AtomicReference<>(Phase.IDLE);

  private sealed interface State {}

  private enum Phase implements State {
    /** The subscriber has requested nothing. */
    IDLE,
    /** The manager is being asked. */
    ASKING,
    /** A signal was sent, or the subscriber has cancelled. */
    DONE
  }

  /** The lock is on its way. */
  private record Acquiring(CompletableFuture<Optional<Lease>> future) implements State {}

  LeaseSubscription(
      LockManager manager, LockRequest request, Subscriber<? super Lease> subscriber) {
    this.manager = manager;
    this.request = request;
    this.subscriber = subscriber;
  }

  @Override
  public void request(long elements) {
    if (elements <= 0) {
      refuse(elements);
    } else if (state.compareAndSet(Phase.IDLE, Phase.ASKING)) {
      long begunAt = System.nanoTime();
      CompletableFuture<Optional<Lease>> future = ask();
      if (!state.compareAndSet(Phase.ASKING, new Acquiring(future))) {
        future.cancel(false);
      }
      future.whenComplete(
          (lease, failure) -> {
            if (failure == null) {
              onAnswer(lease, begunAt);
            } else {
              fail(causeOf(failure));
            }
          });
    }
  }

  @Override
  public void cancel() {
    if (state.getAndSet(Phase.DONE) instanceof Acquiring acquiring) {
      acquiring.future().cancel(false);
    }
  }

  private void refuse(long elements) {
    State before = state.getAndSet(Phase.DONE);
    if (before instanceof Acquiring acquiring) {
      acquiring.future().cancel(false);
    }
    if (before != Phase.DONE) {
      subscriber.onError(
          new IllegalArgumentException(
              elements + " elements were requested: request one or more (rule 3.9)"));
    }
  }

  private CompletableFuture<Optional<Lease>> ask() {
    try {
      return manager.tryAcquireAsync(request);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void onAnswer(Optional<Lease> lease, long begunAt) {
    if (lease.isEmpty()) {
      Duration waited = Duration.ofNanos(System.nanoTime() - begunAt);
      fail(new LockContendedException(request.name(), waited));
    } else if (end()) {
      emit(lease.get());
    } else {
      LeaseDelivery.releaseUnclaimed(lease.get());
    }
  }

  private void emit(Lease lease) {
    try {
      subscriber.onNext(lease);
    } catch (RuntimeException | Error e) { // against the contract of subscribers
      LeaseDelivery.releaseUnclaimed(lease);
      throw e;
    }
    subscriber.onComplete();
  }

  private void fail(Throwable failure) {
    if (end()) {
      subscriber.onError(failure);
    }
  }

  /** Returns whether this call ended the request: only then is a signal sent. */
  private boolean end() {
    return state.getAndSet(Phase.DONE) != Phase.DONE;
  }

  private static Throwable causeOf(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }
}
