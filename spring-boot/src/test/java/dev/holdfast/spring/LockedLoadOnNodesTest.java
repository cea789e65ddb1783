package dev.holdfast.spring;

import static dev.holdfast.spring.RequestLoad.CALLS_PER_CHANCE_WAIT;
import static dev.holdfast.spring.RequestLoad.REQUESTS;
import static dev.holdfast.spring.RequestLoad.ourThreads;
import static dev.holdfast.spring.RequestLoad.refused;
import static dev.holdfast.spring.RequestLoad.refusedBlocking;
import static dev.holdfast.spring.RequestLoad.waits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Many callers of one locked method at the same time, over three real nodes, of which another owner
 * has the lock.
 */
class LockedLoadOnNodesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration TTL = Duration.ofSeconds(30);

  /** An attempt, and a look at the holder for the message. */
  private static final int TRIPS = 2;

  /** Overlap on a busy machine: far fewer than there are requests. */
  private static final int CALLBACKS_AT_ONCE = REQUESTS / 10;

  private final TestNodes nodes = TestNodes.start(3);

  /** Long enough for a busy machine, on which an outage would be no refusal. */
  private final String url =
      "redlock:lettuce:" + String.join(",", nodes.uris()) + "?newNodes=trust&nodeTimeout=2s";

  private final LockManager other = LockManager.open(url);
  private final RedisClient client = RedisClient.create();
  private final List<StatefulRedisConnection<String, String>> connections =
      nodes.uris().stream()
          .map(uri -> client.connect(StringCodec.UTF8, RedisURI.create(uri)))
          .toList();
  private final Scheduler callers = Schedulers.newBoundedElastic(REQUESTS, REQUESTS, "callers");
  private final Scheduler others = Schedulers.newBoundedElastic(REQUESTS, REQUESTS, "others");

  @BeforeEach
  void lock() throws InterruptedException {
    Lease held = other.acquire(LockRequest.of("order", TTL).keepAliveUpTo(Duration.ofHours(1)));
    assertThat(held.isHeld()).isTrue();
  }

  @AfterEach
  void close() {
    callers.dispose();
    others.dispose();
    client.shutdown(0, 2, TimeUnit.SECONDS);
    other.close();
    nodes.close();
  }

  private interface Use {
    void with(BusyShop shop) throws Exception;
  }

  private void run(Use use) {
    Contexts.of(HoldfastAutoConfiguration.class)
        .withPropertyValues("holdfast.url=" + url)
        .withBean(BusyShop.class)
        .run(context -> use.with(context.getBean(BusyShop.class)));
  }

  /** Completes when two of three nodes have answered a command that takes no lock. */
  private CompletableFuture<Long> answered(long dueAt) {
    CompletableFuture<Long> result = new CompletableFuture<>();
    AtomicInteger answers = new AtomicInteger();
    for (StatefulRedisConnection<String, String> each : connections) {
      each.async()
          .get("order")
          .whenComplete(
              (value, failure) -> {
                if (failure != null) {
                  result.completeExceptionally(failure);
                } else if (answers.incrementAndGet() == 2) {
                  result.complete(System.nanoTime() - dueAt);
                }
              });
    }
    return result;
  }

  @Test
  void reactiveRequestsAtTheSameTimeAreRefusedAtOnceAndParkNoCaller() {
    run(
        shop -> {
          Mono.defer(() -> refused(shop.ship(), System.nanoTime()))
              .repeat(REQUESTS)
              .blockLast(PATIENCE);
          long threadsBefore = ourThreads();
          AtomicInteger calls = new AtomicInteger();
          AtomicLong waitsOfCallers = new AtomicLong();

          new RequestLoad(
                  "reactive refusals on nodes",
                  due ->
                      due.flatMap(
                          dueAt -> {
                            long before = waits();
                            CompletableFuture<Long> result = refused(shop.ship(), dueAt).toFuture();
                            waitsOfCallers.addAndGet(waits() - before);
                            calls.incrementAndGet();
                            return Mono.fromFuture(result);
                          },
                          REQUESTS),
                  due -> due.flatMap(dueAt -> Mono.fromFuture(answered(dueAt)), REQUESTS),
                  TRIPS)
              .assertFast();

          assertThat(waitsOfCallers.get()).isLessThanOrEqualTo(calls.get() / CALLS_PER_CHANCE_WAIT);
          assertThat(ourThreads()).isLessThanOrEqualTo(threadsBefore + CALLBACKS_AT_ONCE);
        });
  }

  @Test
  void blockingRequestsAtTheSameTimeAreRefusedAtOnceAndStartNoThread() {
    run(
        shop -> {
          for (int i = 0; i < REQUESTS; i++) {
            assertThat(refusedBlocking(shop::shipBlocking, System.nanoTime())).isPositive();
          }
          long threadsBefore = ourThreads();

          new RequestLoad(
                  "blocking refusals on nodes",
                  due ->
                      due.flatMap(
                          dueAt ->
                              Mono.fromCallable(() -> refusedBlocking(shop::shipBlocking, dueAt))
                                  .subscribeOn(callers),
                          REQUESTS),
                  due ->
                      due.flatMap(
                          dueAt ->
                              Mono.fromCallable(() -> answered(dueAt).get()).subscribeOn(others),
                          REQUESTS),
                  TRIPS)
              .assertFast();

          assertThat(ourThreads()).isLessThanOrEqualTo(threadsBefore);
        });
  }
}
