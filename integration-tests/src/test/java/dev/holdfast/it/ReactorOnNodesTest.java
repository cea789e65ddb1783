package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.junit.HoldfastExtension;
import dev.holdfast.reactor.ReactiveLocks;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Locks of Reactor over three real nodes, with managers of the JUnit extension. */
class ReactorOnNodesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static TestNodes nodes;

  @RegisterExtension
  static final HoldfastExtension LOCKS =
      HoldfastExtension.with(
          () -> LockManager.open("redlock:lettuce:" + String.join(",", nodes.uris())));

  @BeforeAll
  static void start() {
    nodes = TestNodes.start(3);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Test
  @Tag("exclusion")
  void contendersTakeTurns(LockManager manager) {
    ReactiveLocks locks = ReactiveLocks.over(manager);
    LockRequest request = LockRequest.of("turns", Duration.ofSeconds(30));
    AtomicInteger inside = new AtomicInteger();
    Mono<Integer> work =
        Mono.fromSupplier(inside::incrementAndGet)
            .delayElement(Duration.ofMillis(5))
            .doOnNext(count -> inside.decrementAndGet());

    Long alone =
        Flux.range(0, 20)
            .flatMap(
                i -> locks.usingLock(request, lease -> work).subscribeOn(Schedulers.parallel()))
            .filter(count -> count == 1)
            .count()
            .block(PATIENCE);
    assertThat(alone).isEqualTo(20);
    assertThat(manager.inspect("turns")).isEmpty();
  }

  @Test
  void aLossIsSignalledAndACancelledSubscriberReleasesTheLock(LockManager manager) {
    ReactiveLocks locks = ReactiveLocks.over(manager);
    LockRequest request =
        LockRequest.of("lost", Duration.ofSeconds(2)).keepAliveUpTo(Duration.ofMinutes(5));
    Mono<Object> work =
        locks.usingLock(
            request,
            lease -> {
              assertThat(manager.forceRelease("lost")).isTrue();
              return Mono.never();
            });
    assertThat(failureOf(work)).isInstanceOf(LockLostException.class);

    Disposable subscriber = locks.usingLock(request, lease -> Mono.never()).subscribe();
    awaitAnswer().until(() -> manager.inspect("lost").isPresent());
    subscriber.dispose();
    awaitAnswer().until(() -> manager.inspect("lost").isEmpty());
  }

  /** Asks again if no quorum answered in time, which a busy machine makes happen. */
  private static ConditionFactory awaitAnswer() {
    return await().ignoreException(LockOutageException.class);
  }

  private static Throwable failureOf(Publisher<?> publisher) {
    return Flux.from(publisher)
        .then(Mono.<Throwable>empty())
        .onErrorResume(Mono::just)
        .blockOptional(PATIENCE)
        .orElseThrow();
  }
}
