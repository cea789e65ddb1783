package dev.holdfast.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** No call blocks a thread that must not block. */
class BlockHoundTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(30));

  private final LockManager manager = MemoryLocks.builder().open();
  private final MemoryStore store = manager.unwrap(MemoryStore.class).orElseThrow();
  private final ReactiveLocks locks = ReactiveLocks.over(manager);

  @BeforeEach
  void install() {
    BlockedThreads.watch();
  }

  @AfterEach
  void close() {
    manager.close();
    assertThat(BlockedThreads.stacks()).isEmpty();
  }

  @Test
  void blockHoundSeesAThreadThatBlocks() {
    StepVerifier.create(
            // Long: a wait that is over before the thread parks does not block.
            Mono.fromCallable(() -> new CountDownLatch(1).await(30, TimeUnit.SECONDS))
                .subscribeOn(Schedulers.parallel()))
        .expectError(BlockingOperationError.class)
        .verify(PATIENCE);
    assertThat(BlockedThreads.seen()).isNotEmpty();
    BlockedThreads.watch();
  }

  @Test
  void aThousandLocksBlockNoThread() {
    StepVerifier.create(
            Flux.range(0, 1_000)
                .flatMap(
                    i ->
                        locks
                            .usingLock(
                                LockRequest.of("lock-" + i % 10, Duration.ofSeconds(30)),
                                lease -> Mono.just(i).publishOn(Schedulers.parallel()))
                            .subscribeOn(Schedulers.parallel()),
                    100))
        .expectNextCount(1_000)
        .expectComplete()
        .verify(PATIENCE);
  }

  @Test
  void waitingFailingAndCancellingBlockNoThread() {
    store.steal("x", Duration.ofMinutes(5));
    StepVerifier.create(
            locks
                .acquire(REQUEST)
                .subscribeOn(Schedulers.parallel())
                .timeout(Duration.ofMillis(50)))
        .expectError(java.util.concurrent.TimeoutException.class)
        .verify(PATIENCE);
    assertThat(store.remove("x")).isTrue();
    StepVerifier.create(
            locks
                .usingLockMany(REQUEST, lease -> Flux.interval(Duration.ofMillis(1)).take(5))
                .concatWith(
                    locks.usingLock(REQUEST, lease -> Mono.error(new IllegalStateException("end"))))
                .subscribeOn(Schedulers.parallel()))
        .expectNextCount(5)
        .expectErrorMessage("end")
        .verify(PATIENCE);
  }
}
