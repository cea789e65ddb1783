package dev.holdfast.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.memory.MemoryLocks;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.reactivestreams.Publisher;
import org.reactivestreams.tck.PublisherVerification;
import org.reactivestreams.tck.TestEnvironment;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The operators against the rules of Reactive Streams. */
class ReactiveStreamsTckTest {
  private static final long TIMEOUT_MILLIS = 2_000;

  /** The kit waits as long as this for signals that must not come. */
  private static final long SILENCE_MILLIS = 50;

  @AutoClose private final LockManager manager = MemoryLocks.builder().open();
  private final ReactiveLocks locks = ReactiveLocks.over(manager);
  private final AtomicInteger names = new AtomicInteger();

  @TestFactory
  Stream<DynamicTest> acquire() {
    return TckTests.of(() -> verification(1, n -> locks.acquire(request())));
  }

  @TestFactory
  Stream<DynamicTest> thePublisherBelow() {
    return TckTests.of(() -> verification(1, n -> new LeasePublisher(manager, request())));
  }

  @TestFactory
  Stream<DynamicTest> usingLock() {
    return TckTests.of(
        () -> verification(1, n -> locks.usingLock(request(), lease -> Mono.just(1))));
  }

  @TestFactory
  Stream<DynamicTest> usingLockMany() {
    return TckTests.of(
        () ->
            verification(
                Integer.MAX_VALUE - 1,
                n -> locks.usingLockMany(request(), lease -> Flux.range(0, (int) n))));
  }

  @TestFactory
  Stream<DynamicTest> usingLease() throws InterruptedException {
    Lease held = held();
    Lease released = released();
    return TckTests.of(
        () ->
            verification(
                1,
                n -> ReactiveLocks.usingLease(held, Mono.just(1)),
                ReactiveLocks.usingLease(released, Mono.just(1))));
  }

  @TestFactory
  Stream<DynamicTest> usingLeaseMany() throws InterruptedException {
    Lease held = held();
    Lease released = released();
    return TckTests.of(
        () ->
            verification(
                Integer.MAX_VALUE - 1,
                n -> ReactiveLocks.usingLeaseMany(held, Flux.range(0, (int) n)),
                ReactiveLocks.usingLeaseMany(released, Flux.range(0, 1))));
  }

  @Test
  void theKitFailsAPublisherThatBreaksARule() throws Throwable {
    PublisherVerification<Object> broken =
        verification(1, n -> subscriber -> subscriber.onComplete());
    broken.setUp();
    assertThat(
            Stream.of(PublisherVerification.class.getMethods())
                .filter(method -> method.getName().startsWith("required_spec109_mustIssue")))
        .isNotEmpty()
        .allSatisfy(
            method ->
                assertThat(
                        org.assertj.core.api.Assertions.catchThrowable(() -> method.invoke(broken)))
                    .isNotNull());
  }

  private LockRequest request() {
    return LockRequest.of("lock-" + names.incrementAndGet(), Duration.ofSeconds(30));
  }

  private Lease held() throws InterruptedException {
    return manager.acquire(request().keepAliveUpTo(Duration.ofHours(1)));
  }

  private Lease released() throws InterruptedException {
    Lease lease = manager.acquire(request());
    lease.release();
    return lease;
  }

  /** A request fails only once an element is requested, so that there is no failed publisher. */
  private static <T> PublisherVerification<T> verification(
      long maxElements, LongFunction<Publisher<? extends T>> publishers) {
    return verification(maxElements, publishers, null);
  }

  /**
   * Returns the kit for a publisher.
   *
   * @param failed fails when it is subscribed. Without it the kit skips its tests of failures
   */
  private static <T> PublisherVerification<T> verification(
      long maxElements,
      LongFunction<Publisher<? extends T>> publishers,
      @Nullable Publisher<T> failed) {
    return new PublisherVerification<>(
        new TestEnvironment(TIMEOUT_MILLIS, SILENCE_MILLIS, SILENCE_MILLIS)) {
      @Override
      public Publisher<T> createPublisher(long elements) {
        return Flux.<T>from(publishers.apply(elements));
      }

      @Override
      @SuppressWarnings("NullAway") // the kit skips its optional tests then
      public Publisher<T> createFailedPublisher() {
        return failed;
      }

      @Override
      public long maxElementsFromPublisher() {
        return maxElements;
      }
    };
  }
}
