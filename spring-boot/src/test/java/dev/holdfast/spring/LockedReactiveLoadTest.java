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
import reactor.test.StepVerifier;

/** Many callers of one locked method, of which none may cost a thread. */
class LockedReactiveLoadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final int REQUESTS = 200;
  private static final Duration PERIOD = Duration.ofMillis(1000 / REQUESTS);
  private static final int ROUNDS = 5;
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

  private static long p99MicrosOfASecond(Shop shop) {
    List<Long> nanos =
        dueTimes()
            .onBackpressureBuffer()
            .concatMap(dueAt -> refused(shop, dueAt)) // one at a time: a late one delays the others
            .collectSortedList()
            .blockOptional(PATIENCE)
            .orElseThrow();
    assertThat(nanos).hasSize(REQUESTS).allMatch(each -> each >= 0);
    long p99 = TimeUnit.NANOSECONDS.toMicros(nanos.get(REQUESTS * 99 / 100 - 1));
    System.out.println(
        "refusals at "
            + REQUESTS
            + " a second, in microseconds: p50 "
            + TimeUnit.NANOSECONDS.toMicros(nanos.get(REQUESTS / 2 - 1))
            + ", p99 "
            + p99);
    return p99;
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
          assertThat(ourThreads()).isLessThanOrEqualTo(threadsBefore);
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
