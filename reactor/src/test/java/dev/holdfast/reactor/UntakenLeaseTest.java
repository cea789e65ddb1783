package dev.holdfast.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Fakes;
import dev.holdfast.testsupport.Uncancellable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Leases of requests with a minimum that arrive for subscribers who do not take them. */
class UntakenLeaseTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final LockRequest REQUEST =
      LockRequest.of("x", Duration.ofSeconds(30)).holdAtLeast(Duration.ofHours(1));

  @AutoClose
  private final LockManager memory = MemoryLocks.builder().clock(new ManualClock()).open();

  private final MemoryStore store = memory.unwrap(MemoryStore.class).orElseThrow();
  private final CompletableFuture<Optional<Lease>> onItsWay = new Uncancellable<>();

  @Test
  void aLeaseThatArrivesAfterTheCancellationIsReleasedBeforeItsMinimum() {
    LeaseSubscription subscription = subscription();
    subscription.request(1);
    subscription.cancel();

    arrives();

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(store.holder("x")).isEmpty());
  }

  @Test
  void aLeaseWhoseSubscriberThrowsIsReleasedBeforeItsMinimum() {
    subscription().request(1);

    arrives();

    await().atMost(PATIENCE).untilAsserted(() -> assertThat(store.holder("x")).isEmpty());
  }

  private void arrives() {
    Optional<Lease> lease = memory.tryAcquireAsync(REQUEST).join();
    assertThat(store.holder("x")).isPresent();
    onItsWay.complete(lease);
  }

  /** Returns a subscription whose subscriber throws when a lease arrives. */
  private LeaseSubscription subscription() {
    LockManager fake = Fakes.of(LockManager.class, (self, method, arguments) -> onItsWay);
    return new LeaseSubscription(fake, REQUEST, new RequestingSubscriber(1, failure -> {}));
  }
}
