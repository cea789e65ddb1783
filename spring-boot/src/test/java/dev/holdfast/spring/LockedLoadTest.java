package dev.holdfast.spring;

import static dev.holdfast.spring.RequestLoad.CALLS_PER_CHANCE_WAIT;
import static dev.holdfast.spring.RequestLoad.REQUESTS;
import static dev.holdfast.spring.RequestLoad.ourThreads;
import static dev.holdfast.spring.RequestLoad.refused;
import static dev.holdfast.spring.RequestLoad.refusedBlocking;
import static dev.holdfast.spring.RequestLoad.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Many callers of one locked method in memory, of which none may cost a thread. */
class LockedLoadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(30);

  /** Callbacks overlap on a busy machine: far fewer than there are requests. */
  private static final int CALLBACKS_AT_ONCE = REQUESTS / 10;

  private interface Use {
    void with(BusyShop shop, MemoryStore store) throws Exception;
  }

  private static void run(Use use) {
    Contexts.inMemory()
        .withBean(BusyShop.class)
        .run(
            context ->
                use.with(
                    context.getBean(BusyShop.class),
                    context.getBean(LockManager.class).unwrap(MemoryStore.class).orElseThrow()));
  }

  /** Calls without a rate, so that the code is compiled when the time counts. */
  private static void warmUp(BusyShop shop) {
    Mono.defer(() -> refused(shop.ship(), System.nanoTime())).repeat(REQUESTS).blockLast(PATIENCE);
  }

  /** Emits how late this machine is without a lock. */
  private static Flux<Long> onOtherThreads(Flux<Long> due) {
    return due.flatMap(
        dueAt ->
            Mono.fromSupplier(() -> System.nanoTime() - dueAt)
                .subscribeOn(Schedulers.boundedElastic()),
        REQUESTS);
  }

  @Test
  void twoHundredRequestsASecondOnOneLockAreRefusedAtOnceAndStartNoThread() {
    run(
        (shop, store) -> {
          store.steal("order", TTL);
          warmUp(shop);
          long threadsBefore = ourThreads();

          new RequestLoad(
                  "reactive refusals",
                  due -> due.flatMap(dueAt -> refused(shop.ship(), dueAt), REQUESTS),
                  LockedLoadTest::onOtherThreads,
                  RequestLoad.NOISE)
              .assertFast();

          assertThat(ourThreads()).isLessThanOrEqualTo(threadsBefore + CALLBACKS_AT_ONCE);
        });
  }

  @Test
  void blockingRequestsAreRefusedAtOnceAndParkNoCaller() {
    Scheduler callers = Schedulers.newBoundedElastic(REQUESTS, REQUESTS, "callers");
    run(
        (shop, store) -> {
          store.steal("order", TTL);
          for (int i = 0; i < REQUESTS; i++) { // compiles the code
            assertThat(refusedBlocking(shop::shipBlocking, System.nanoTime())).isPositive();
          }
          long threadsBefore = ourThreads();
          AtomicInteger calls = new AtomicInteger();
          AtomicLong waitsOfCallers = new AtomicLong();

          new RequestLoad(
                  "blocking refusals",
                  due ->
                      due.flatMap(
                          dueAt ->
                              Mono.fromCallable(
                                      () -> {
                                        long before = waits();
                                        long time = refusedBlocking(shop::shipBlocking, dueAt);
                                        waitsOfCallers.addAndGet(waits() - before);
                                        calls.incrementAndGet();
                                        return time;
                                      })
                                  .subscribeOn(callers),
                          REQUESTS),
                  LockedLoadTest::onOtherThreads,
                  RequestLoad.NOISE)
              .assertFast();

          assertThat(waitsOfCallers.get()).isLessThanOrEqualTo(calls.get() / CALLS_PER_CHANCE_WAIT);
          assertThat(ourThreads()).isLessThanOrEqualTo(threadsBefore);
        });
    callers.dispose();
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
