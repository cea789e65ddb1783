package dev.holdfast.reactor;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/**
 * No call blocks a thread of Reactor or of Netty, with Lettuce over three real nodes. Netty tells
 * BlockHound that its event loops must not block.
 */
class BlockHoundOnNodesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration HOUR = Duration.ofHours(1);

  private final TestNodes nodes = TestNodes.start(3);
  private final AtomicInteger events = new AtomicInteger();
  private final LockManager manager = open();
  private final LockManager other = open();
  private final ReactiveLocks locks = ReactiveLocks.over(manager);

  private LockManager open() {
    return LockManager.builder("redlock:lettuce:" + String.join(",", nodes.uris()))
        .listener(
            new LockListener() {
              @Override
              public void onGranted(String name, long leaseId, long waited, int votes, int m) {
                events.incrementAndGet();
              }
            })
        .open();
  }

  @BeforeEach
  void watch() {
    BlockedThreads.watch();
  }

  @AfterEach
  void close() {
    manager.close();
    other.close();
    nodes.close();
    assertThat(BlockedThreads.stacks()).isEmpty();
  }

  @Test
  void blockHoundSeesAnEventLoopThatBlocks() {
    LockListener blocking =
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            try {
              events.addAndGet(new CountDownLatch(1).await(30, TimeUnit.SECONDS) ? 1 : 0);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    try (LockListener.Registration added = manager.addListener(blocking)) {
      assertThat(onParallel(() -> manager.tryAcquireAsync(LockRequest.of("x", TTL)))).isPresent();
      assertThat(added).isNotNull();
    }

    assertThat(BlockedThreads.seen()).isNotEmpty();
    BlockedThreads.watch();
  }

  @Test
  void contendersOfTwoManagersBlockNoThread() {
    ReactiveLocks others = ReactiveLocks.over(other);

    StepVerifier.create(
            Flux.range(0, 300)
                .flatMap(
                    i ->
                        (i % 2 == 0 ? locks : others)
                            .usingLock(
                                LockRequest.of("lock-" + i % 10, TTL).keepAliveUpTo(HOUR),
                                lease -> Mono.just(i).publishOn(Schedulers.parallel()))
                            .subscribeOn(Schedulers.parallel()),
                    50))
        .expectNextCount(300)
        .expectComplete()
        .verify(PATIENCE);
    assertThat(events).hasValue(300);
  }

  @Test
  void renewalsLossesAndCancellationsBlockNoThread() {
    LockRequest brief = LockRequest.of("brief", Duration.ofSeconds(2)).keepAliveUpTo(HOUR);

    StepVerifier.create(
            locks
                .usingLock(brief, lease -> Mono.delay(Duration.ofSeconds(3)))
                .subscribeOn(Schedulers.parallel()))
        .expectNext(0L)
        .expectComplete()
        .verify(PATIENCE);
    AtomicBoolean isHeld = new AtomicBoolean();
    StepVerifier.create(
            locks
                .usingLock(brief, lease -> Mono.never().doOnRequest(any -> isHeld.set(true)))
                .subscribeOn(Schedulers.parallel()))
        // not earlier: a node may still hold the lock whose release a quorum has confirmed
        .then(() -> soon().untilTrue(isHeld))
        .then(() -> soon().until(() -> other.forceRelease("brief")))
        .expectError(LockLostException.class)
        .verify(PATIENCE);
    StepVerifier.create(
            locks
                .usingLock(brief, lease -> Mono.never())
                .subscribeOn(Schedulers.parallel())
                .timeout(Duration.ofMillis(100)))
        .expectError(TimeoutException.class)
        .verify(PATIENCE);
    soon().untilAsserted(() -> assertThat(other.inspect("brief")).isEmpty());
  }

  @Test
  void anOutageBlocksNoThread() {
    nodes.node(0).freeze();
    nodes.node(1).freeze();

    StepVerifier.create(
            locks
                .usingLock(
                    LockRequest.of("x", TTL).waitAtMost(Duration.ofMillis(500)),
                    lease -> Mono.just(1))
                .subscribeOn(Schedulers.parallel()))
        .expectError(LockOutageException.class)
        .verify(PATIENCE);
  }

  @Test
  void callsOfAManagerAndOfALeaseBlockNoThread() {
    LockRequest request = LockRequest.of("x", TTL);

    Lease lease = onParallel(() -> manager.tryAcquireAsync(request)).orElseThrow();
    Boolean isHeld = onParallel(() -> lease.extendAsync(TTL).thenApply(extended -> lease.isHeld()));
    Integer shown =
        onParallel(
            () ->
                CompletableFuture.completedFuture(
                    manager.nodes().size() + manager.leases().size()));
    String text = onParallel(() -> lease.transferAsync(TTL));
    Lease adopted = onParallel(() -> other.adoptAsync(text, request));
    Boolean wasHeld = onParallel(adopted::releaseAsync);

    assertThat(isHeld).isTrue();
    assertThat(shown).isEqualTo(4);
    assertThat(wasHeld).isTrue();
  }

  /** Makes a call on a thread that must not block, and awaits its result here. */
  private static <T> T onParallel(Supplier<CompletableFuture<T>> call) {
    return Mono.fromCallable(call::get)
        .subscribeOn(Schedulers.parallel())
        .flatMap((Function<CompletableFuture<T>, Mono<T>>) Mono::fromFuture)
        .blockOptional(PATIENCE)
        .orElseThrow();
  }
}
