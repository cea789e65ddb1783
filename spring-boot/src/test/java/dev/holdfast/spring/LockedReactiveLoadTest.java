package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.util.function.Tuple2;

/** Many callers of one locked method, of which none may cost a thread. */
class LockedReactiveLoadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final int REQUESTS = 200;
  private static final Duration PERIOD = Duration.ofMillis(1000 / REQUESTS);
  private static final int ROUNDS = 5;

  /** Callbacks overlap on a busy machine: far fewer than there are requests. */
  private static final int CALLBACKS_AT_ONCE = 5;

  private static final long LIMIT_MICROS = 10_000;

  static class Shop {
    @Locked(name = "order")
    public Mono<String> ship() {
      return Mono.just("done");
    }

    @Locked(name = "order", waitAtMost = "1h")
    public Mono<String> shipLater() {
      return Mono.just("done");
    }
  }

  private interface Use {
    void with(Shop shop, MemoryStore store) throws Exception;
  }

  private static void run(Use use) {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
        .withPropertyValues("holdfast.url=memory:")
        .withBean(Shop.class)
        .run(
            context ->
                use.with(
                    context.getBean(Shop.class),
                    context.getBean(LockManager.class).unwrap(MemoryStore.class).orElseThrow()));
  }

  private static long ourThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("holdfast"))
        .count();
  }

  /** Calls without a limit, so that the code is compiled when the time counts. */
  private static void warmUp(Shop shop) {
    Mono.defer(() -> refused(shop, System.nanoTime())).repeat(REQUESTS).blockLast(PATIENCE);
  }

  /** Emits the nanoseconds from the time at which the call was due to its refusal. */
  private static Mono<Long> refused(Shop shop, long dueAt) {
    return shop.ship()
        .map(value -> -1L)
        .onErrorResume(
            LockContendedException.class,
            refusal -> Mono.fromSupplier(() -> System.nanoTime() - dueAt));
  }

  /** Emits the time at which each call is due, as soon as it has come. */
  private static Flux<Long> dueTimes() {
    return Flux.defer(
        () -> {
          long begunAt = System.nanoTime();
          return Flux.interval(Duration.ZERO, PERIOD)
              .take(REQUESTS)
              .map(tick -> begunAt + tick * PERIOD.toNanos());
        });
  }

  /** Emits the times from each call's due time to its refusal, in order of length. */
  private static Mono<List<Long>> refusals(Shop shop) {
    return dueTimes()
        .onBackpressureBuffer()
        .concatMap(dueAt -> refused(shop, dueAt)) // one at a time: a late one delays the others
        .collectSortedList();
  }

  /** Emits how late this machine is at the same times without a lock, in order of length. */
  private static Mono<List<Long>> lateness() {
    return dueTimes()
        .onBackpressureBuffer()
        .publishOn(Schedulers.single())
        .map(dueAt -> System.nanoTime() - dueAt)
        .collectSortedList();
  }

  /** Returns what a lock adds to the lateness of the machine. */
  private static long p99MicrosOfASecond(Shop shop) {
    Tuple2<List<Long>, List<Long>> both =
        Mono.zip(refusals(shop), lateness()).blockOptional(PATIENCE).orElseThrow();
    assertThat(both.getT1()).hasSize(REQUESTS).allMatch(each -> each >= 0);
    long p99 = micros(both.getT1(), 99);
    long withoutLock = micros(both.getT2(), 99);
    System.out.println(
        "refusals at "
            + REQUESTS
            + " a second, in microseconds: p50 "
            + micros(both.getT1(), 50)
            + ", p99 "
            + p99
            + ", p99 without a lock "
            + withoutLock);
    return p99 - withoutLock;
  }

  private static long micros(List<Long> nanos, int percent) {
    return TimeUnit.NANOSECONDS.toMicros(nanos.get(REQUESTS * percent / 100 - 1));
  }

  @Test
  void twoHundredRequestsASecondOnOneLockAreRefusedAtOnceAndStartNoThread() {
    run(
        (shop, store) -> {
          store.steal("order", TTL);
          warmUp(shop);
          long threadsBefore = ourThreads();

          // A busy machine stalls some requests of one round, and a slow lock those of each.
          List<Long> rounds =
              Stream.generate(() -> p99MicrosOfASecond(shop))
                  .limit(ROUNDS)
                  .takeWhile(p99 -> p99 >= LIMIT_MICROS)
                  .toList();

          assertThat(rounds).as("p99 of each round, in microseconds").hasSizeLessThan(ROUNDS);
          assertThat(ourThreads()).isLessThanOrEqualTo(threadsBefore + CALLBACKS_AT_ONCE);
        });
  }

  @Test
  void requestsThatWaitHoldNoThread() {
    run(
        (shop, store) -> {
          store.steal("order", TTL);
          warmUp(shop);
          long threadsBefore = ourThreads();

          StepVerifier.create(Flux.range(0, REQUESTS).flatMap(each -> shop.shipLater(), REQUESTS))
              .expectSubscription()
              .then(() -> assertThat(ourThreads()).isLessThan(threadsBefore + REQUESTS / 4))
              .then(() -> assertThat(store.remove("order")).isTrue())
              .expectNextCount(REQUESTS)
              .expectComplete()
              .verify(PATIENCE);
          Eventually.soon().untilAsserted(() -> assertThat(store.holder("order")).isEmpty());
        });
  }
}
