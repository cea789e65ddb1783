package dev.holdfast.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

/** Leases around publishers, over locks in memory. */
class ReactiveLocksTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualClock clock = ManualClock.running();
  @AutoClose private final LockManager manager = MemoryLocks.builder().clock(clock).open();
  private final MemoryStore store = manager.unwrap(MemoryStore.class).orElseThrow();
  private final ReactiveLocks locks = ReactiveLocks.over(manager);

  @Test
  void aLeaseIsEmittedAndBelongsToTheSubscriber() {
    AtomicReference<Lease> lease = new AtomicReference<>();
    StepVerifier.create(locks.acquire(REQUEST))
        .assertNext(lease::set)
        .expectComplete()
        .verify(PATIENCE);

    Lease held = Objects.requireNonNull(lease.get());
    assertThat(store.holder("x")).hasValue(held.token());
    assertThat(held.release()).isTrue();
  }

  @Test
  void eachSubscriberHasALeaseOfItsOwn() {
    AtomicInteger used = new AtomicInteger();
    Mono<Integer> counted =
        locks.usingLock(REQUEST, lease -> Mono.fromSupplier(used::incrementAndGet));

    StepVerifier.create(counted.repeat(2)).expectNext(1, 2, 3).expectComplete().verify(PATIENCE);
    assertThat(store.holder("x")).isEmpty();
  }

  @Test
  void nothingIsAskedForUntilAnElementIsRequested() {
    StepVerifier.create(locks.acquire(REQUEST), 0)
        .expectSubscription()
        .then(() -> assertThat(store.holder("x")).isEmpty())
        .thenRequest(1)
        .consumeNextWith(lease -> assertThat(lease.release()).isTrue())
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void aRequestForNoElementFails() {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    new LeasePublisher(manager, REQUEST).subscribe(new RequestingSubscriber(0, failure::set));
    assertThat(failure.get()).isInstanceOf(IllegalArgumentException.class);
    assertThat(store.holder("x")).isEmpty();
  }

  @Test
  void theLockIsHeldWhileAMonoRunsAndTheValueComesAfterTheRelease() {
    Sinks.One<String> work = Sinks.one();
    StepVerifier.create(
            locks
                .usingLock(REQUEST, lease -> work.asMono())
                .doOnNext(value -> assertThat(store.holder("x")).isEmpty()))
        .expectSubscription()
        .then(() -> await().atMost(PATIENCE).until(() -> store.holder("x").isPresent()))
        .then(() -> assertThat(work.tryEmitValue("done").isSuccess()).isTrue())
        .expectNext("done")
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void anEmptyMonoEndsAfterTheRelease() {
    StepVerifier.create(
            locks
                .usingLock(REQUEST, lease -> Mono.<String>empty())
                .doOnTerminate(() -> assertThat(store.holder("x")).isEmpty()))
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void theElementsOfAFluxComeAsTheyAreAndItsEndComesAfterTheRelease() {
    StepVerifier.create(
            locks
                .usingLockMany(REQUEST, lease -> Flux.range(0, 1_000))
                .doOnNext(element -> assertThat(store.holder("x")).isPresent())
                .doOnComplete(() -> assertThat(store.holder("x")).isEmpty()))
        .expectNextCount(1_000)
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void theWorkIsAskedForNoMoreThanTheSubscriberRequests() {
    TestPublisher<Integer> work = TestPublisher.create();
    StepVerifier.create(locks.usingLockMany(REQUEST, lease -> work), 0)
        .expectSubscription()
        .then(() -> await().atMost(PATIENCE).until(work::wasSubscribed))
        .then(work::assertWasNotRequested)
        .thenRequest(2)
        .then(() -> work.assertMinRequested(2))
        .then(() -> work.next(1, 2))
        .expectNext(1, 2)
        .then(work::complete)
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void aFailureComesAfterTheRelease() {
    StepVerifier.create(
            locks
                .usingLock(REQUEST, lease -> Mono.error(new IllegalStateException("of the work")))
                .doOnError(failure -> assertThat(store.holder("x")).isEmpty()))
        .expectErrorMessage("of the work")
        .verify(PATIENCE);
  }

  @Test
  void aFunctionThatThrowsOrReturnsNoPublisherReleasesTheLock() {
    StepVerifier.create(
            locks.usingLock(
                REQUEST,
                lease -> {
                  throw new IllegalStateException("of the function");
                }))
        .expectErrorMessage("of the function")
        .verify(PATIENCE);
    StepVerifier.create(locks.usingLockMany(REQUEST, lease -> nothing()))
        .expectError(NullPointerException.class)
        .verify(PATIENCE);
    assertThat(store.holder("x")).isEmpty();
  }

  @Test
  void aCancelledSubscriberReleasesTheLock() {
    TestPublisher<Integer> work = TestPublisher.create();
    Disposable subscriber = locks.usingLockMany(REQUEST, lease -> work).subscribe();
    await().atMost(PATIENCE).until(work::wasSubscribed);
    assertThat(store.holder("x")).isPresent();

    subscriber.dispose();
    work.assertCancelled();
    await().atMost(PATIENCE).until(() -> store.holder("x").isEmpty());
  }

  @Test
  void aLossCancelsTheWorkAndIsSignalled() {
    TestPublisher<Integer> work = TestPublisher.create();
    StepVerifier.create(locks.usingLockMany(REQUEST, lease -> work))
        .expectSubscription()
        .then(() -> await().atMost(PATIENCE).until(work::wasSubscribed))
        .then(() -> work.next(1))
        .expectNext(1)
        .then(() -> clock.advance(TTL))
        .expectErrorSatisfies(failure -> assertLost(failure, LossReason.EXPIRED))
        .verify(PATIENCE);
    work.assertCancelled();
  }

  @Test
  void aLossOfAMonoIsSignalledAndTheMonoIsCancelled() {
    TestPublisher<String> work = TestPublisher.create();
    LockRequest kept = REQUEST.keepAliveUpTo(Duration.ofHours(1));
    StepVerifier.create(locks.usingLock(kept, lease -> work.mono()))
        .expectSubscription()
        .then(() -> await().atMost(PATIENCE).until(work::wasSubscribed))
        .then(() -> store.steal("x", TTL))
        .then(() -> clock.advance(TTL.dividedBy(3)))
        .expectErrorSatisfies(failure -> assertLost(failure, LossReason.TAKEN))
        .verify(PATIENCE);
    work.assertCancelled();
  }

  @Test
  void aValueWhoseLockWasGoneBeforeItsReleaseIsALoss() {
    StepVerifier.create(
            locks.usingLock(
                REQUEST,
                lease -> {
                  assertThat(store.remove("x")).isTrue();
                  return Mono.just("not protected");
                }))
        .expectErrorSatisfies(failure -> assertLost(failure, LossReason.REMOVED))
        .verify(PATIENCE);
  }

  /** Often: the loss is found as the work fails, and its notification must not come first. */
  @RepeatedTest(200)
  void aFailureAfterALossIsItsCause() {
    StepVerifier.create(
            locks.usingLock(
                REQUEST,
                lease -> {
                  clock.moveWallClock(TTL);
                  return Mono.error(new IllegalStateException("of the work"));
                }))
        .expectErrorSatisfies(
            failure -> {
              assertLost(failure, LossReason.EXPIRED);
              assertThat(failure).hasRootCauseMessage("of the work");
            })
        .verify(PATIENCE);
  }

  @Test
  void aReleaseByTheWorkIsNoLoss() {
    StepVerifier.create(
            locks.usingLock(REQUEST, lease -> Mono.fromFuture(lease.releaseAsync()).thenReturn(1)))
        .expectNext(1)
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void aReleaseThatIsNotAnsweredDoesNotHideTheValue() {
    StepVerifier.create(
            locks.usingLock(
                REQUEST,
                lease -> {
                  store.outage(true);
                  return Mono.just("done");
                }))
        .expectNext("done")
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void anotherOwnersLockIsContentionOnceTheWaitIsOver() {
    store.steal("x", Duration.ofMinutes(5));
    AtomicInteger begun = new AtomicInteger();
    StepVerifier.create(
            locks.usingLock(
                REQUEST.waitAtMost(Duration.ofMillis(20)),
                lease -> Mono.fromSupplier(begun::incrementAndGet)))
        .expectErrorSatisfies(
            failure ->
                assertThat(failure)
                    .isInstanceOfSatisfying(
                        LockContendedException.class,
                        e -> assertThat(e.waited()).isGreaterThanOrEqualTo(Duration.ofMillis(20)))
                    .hasMessageContaining("'x' is held by another owner"))
        .verify(PATIENCE);
    assertThat(begun).hasValue(0);
  }

  @Test
  void aRequestWithoutALimitWaitsForTheLock() {
    store.steal("x", Duration.ofMinutes(5));
    StepVerifier.create(locks.usingLock(REQUEST, lease -> Mono.just("done")))
        .expectSubscription()
        .then(() -> clock.advance(Duration.ofMinutes(5)))
        .expectNext("done")
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void outagesAndWrongRequestsAreSignalled() {
    store.outage(true);
    StepVerifier.create(locks.acquire(REQUEST.waitAtMost(Duration.ZERO)))
        .expectError(LockOutageException.class)
        .verify(PATIENCE);
    StepVerifier.create(locks.acquire(LockRequest.of("x", Duration.ofDays(1))))
        .expectError(LockConfigurationException.class)
        .verify(PATIENCE);
    manager.close();
    StepVerifier.create(locks.acquire(REQUEST))
        .expectError(IllegalStateException.class)
        .verify(PATIENCE);
  }

  @Test
  void aSubscriberThatIsCancelledWhileTheLockIsOnItsWayLeavesNothingHeld() throws Exception {
    Lease before = manager.acquire(REQUEST);
    AtomicInteger begun = new AtomicInteger();
    Disposable waiting =
        locks.usingLock(REQUEST, lease -> Mono.fromSupplier(begun::incrementAndGet)).subscribe();
    waiting.dispose();
    assertThat(before.release()).isTrue();

    assertThat(manager.tryAcquireAsync(REQUEST.waitForever()).get(20, TimeUnit.SECONDS))
        .as("the next waiter")
        .isPresent();
    assertThat(begun).hasValue(0);
  }

  private static void assertLost(Throwable failure, LossReason reason) {
    assertThat(failure)
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(reason));
  }

  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // a mistake of users
  private static <T> T nothing() {
    return null;
  }

  @Test
  void aMonoUnderAHeldLeaseLeavesTheLeaseHeld() throws Exception {
    try (Lease lease = manager.acquire(REQUEST)) {
      StepVerifier.create(ReactiveLocks.usingLease(lease, Mono.just("done")))
          .expectNext("done")
          .expectComplete()
          .verify(PATIENCE);
      assertThat(lease.isHeld()).isTrue();
    }
  }

  @Test
  void theLeaseKeepsNothingOfWorkThatHasEnded() throws Exception {
    try (Lease lease = manager.acquire(REQUEST)) {
      for (int i = 0; i < 3; i++) {
        ReactiveLocks.usingLeaseMany(lease, Flux.range(0, 10)).blockLast(PATIENCE);
        Disposable cancelled = ReactiveLocks.usingLease(lease, Mono.never()).subscribe();
        assertThat(lease.onLoss().getNumberOfDependents()).isEqualTo(1);
        cancelled.dispose();
      }
      assertThat(lease.onLoss().getNumberOfDependents()).isZero();
    }
  }

  @Test
  void aFluxUnderAHeldLeaseIsCancelledByTheLoss() throws Exception {
    try (Lease lease = manager.acquire(REQUEST)) {
      TestPublisher<String> work = TestPublisher.create();
      StepVerifier.create(ReactiveLocks.usingLeaseMany(lease, work))
          .then(() -> work.next("first"))
          .expectNext("first")
          .then(() -> clock.advance(TTL.plusSeconds(1)))
          .then(() -> await().atMost(PATIENCE).until(() -> lease.onLoss().isDone()))
          .expectError(LockLostException.class)
          .verify(PATIENCE);
      work.assertCancelled();
    }
  }

  @Test
  void aMonoIsNotSubscribedUnderALeaseThatIsLostOrReleased() throws Exception {
    Lease lost = manager.acquire(REQUEST);
    clock.advance(TTL.plusSeconds(1));
    Lease released = manager.acquire(REQUEST);
    released.close();
    AtomicInteger subscriptions = new AtomicInteger();
    Mono<Integer> work = Mono.fromSupplier(subscriptions::incrementAndGet);

    StepVerifier.create(ReactiveLocks.usingLease(lost, work))
        .expectError(LockLostException.class)
        .verify(PATIENCE);
    StepVerifier.create(ReactiveLocks.usingLease(released, work))
        .expectError(IllegalStateException.class)
        .verify(PATIENCE);
    assertThat(subscriptions).hasValue(0);
    lost.close();
  }

  @Test
  void aCancellationReleasesAfterTheWorkThatGoesOnHasEnded() {
    Sinks.Empty<Void> goingOn = Sinks.empty();
    TestPublisher<String> work = TestPublisher.create();
    Disposable subscription =
        locks.usingLockMany(REQUEST, lease -> work, lease -> goingOn.asMono()).subscribe();
    await().atMost(PATIENCE).until(work::wasSubscribed);

    subscription.dispose();
    work.assertCancelled();
    assertThat(store.holder("x")).isPresent();

    goingOn.emitError(
        new IllegalStateException("of the commit"), Sinks.EmitFailureHandler.FAIL_FAST);
    await().atMost(PATIENCE).until(() -> store.holder("x").isEmpty());
  }
}
