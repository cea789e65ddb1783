package dev.holdfast.reactor;

import dev.holdfast.Lease;
import java.util.function.Consumer;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Requests a number of elements that may be wrong. */
record RequestingSubscriber(long elements, Consumer<Throwable> onFailure)
    implements Subscriber<Lease> {
  @Override
  public void onSubscribe(Subscription subscription) {
    subscription.request(elements);
  }

  @Override
  public void onNext(Lease lease) {
    throw new AssertionError("a lease without a valid request");
  }

  @Override
  public void onError(Throwable failure) {
    onFailure.accept(failure);
  }

  @Override
  public void onComplete() {
    throw new AssertionError("an end without a valid request");
  }
}
