package dev.holdfast.reactor;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.util.Objects;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;

/**
 * Acquires a lease for each subscriber.
 *
 * @param manager gives out the lock
 * @param request without a wait, the request waits until the lock is acquired
 */
record LeasePublisher(LockManager manager, LockRequest request) implements Publisher<Lease> {
  LeasePublisher {
    Objects.requireNonNull(request, "request");
    request = request.waitAtMost().isPresent() ? request : request.waitForever();
  }

  @Override
  public void subscribe(Subscriber<? super Lease> subscriber) {
    subscriber.onSubscribe(new LeaseSubscription(manager, request, subscriber));
  }
}
