package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

class LockedReactiveTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String NAME = "order-1";

  private final ApplicationContextRunner contexts = Contexts.inMemory();

  static class Shop {
    @Locked(name = "order-#{#id}")
    public <T> Mono<T> ship(Object id, Supplier<Mono<T>> work) {
      return work.get();
    }

    @Locked(name = "order-#{#id}")
    public <T> Flux<T> shipMany(Object id, Supplier<Flux<T>> work) {
      return work.get();
    }

    @Locked(name = "order-#{#id}", whenHeld = Locked.WhenHeld.SKIP)
    public <T> Mono<T> skip(Object id, Supplier<Mono<T>> work) {
      return work.get();
    }

    @Locked(name = "order-#{#id}", whenHeld = Locked.WhenHeld.SKIP)
    public Flux<String> skipMany(Object id) {
      return Flux.just("done");
    }

    @Locked(name = "order-#{#id}")
    public <T> T blocking(Object id, Supplier<T> work) {
      return work.get();
    }
  }

  private interface Use {
    void with(Shop shop, MemoryStore store) throws Exception;
  }

  private void run(Use use) {
    contexts
        .withBean(Shop.class)
        .run(
            context -> {
              LockManager locks = context.getBean(LockManager.class);
              use.with(context.getBean(Shop.class), locks.unwrap(MemoryStore.class).orElseThrow());
            });
  }

  private static boolean isHeld(MemoryStore store) {
    return store.holder(NAME).isPresent();
  }

  private static Mono<String> done() {
    return Mono.just("done");
  }

  /** Work that does not end, and the lease under which it runs. */
  private static final class Endless {
    private final Sinks.One<Lease> lease = Sinks.one();
    private final AtomicBoolean cancelled = new AtomicBoolean();

    Mono<String> begin() {
      Lease current = Locks.current().orElseThrow();
      return Mono.<String>never()
          .doOnCancel(() -> cancelled.set(true))
          .doOnRequest(elements -> lease.tryEmitValue(current).orThrow());
    }

    Lease lease() {
      return lease.asMono().blockOptional(PATIENCE).orElseThrow();
    }

    void untilCancelled() {
      Eventually.soon().untilTrue(cancelled);
    }
  }

  private static void lose(MemoryStore store, Lease lease) {
    store.steal(lease.name(), TTL);
    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
  }

  @Test
  void theMethodRunsUnderTheLockOfEachSubscriberAndTheValueComesAfterTheRelease() {
    run(
        (shop, store) -> {
          AtomicInteger calls = new AtomicInteger();
          Mono<Boolean> shipped =
              shop.ship(
                  1,
                  () -> {
                    calls.incrementAndGet();
                    return Mono.fromSupplier(() -> isHeld(store));
                  });
          assertThat(calls).as("calls before a subscription").hasValue(0);
          assertThat(isHeld(store)).isFalse();

          StepVerifier.create(shipped.map(held -> held && !isHeld(store)).repeat(1))
              .expectNext(true, true)
              .expectComplete()
              .verify(PATIENCE);
          assertThat(calls).hasValue(2);
        });
  }

  @Test
  void aFluxHoldsTheLockUntilItEnds() {
    run(
        (shop, store) -> {
          Flux<Boolean> held =
              shop.shipMany(1, () -> Flux.range(1, 3).map(number -> isHeld(store)));
          StepVerifier.create(held.doOnComplete(() -> assertThat(isHeld(store)).isFalse()))
              .expectNext(true, true, true)
              .expectComplete()
              .verify(PATIENCE);
        });
  }

  @Test
  void aFailureFromAnyPlaceIsSignalledAfterTheRelease() {
    run(
        (shop, store) -> {
          IllegalArgumentException failure = new IllegalArgumentException("of the work");
          List<Supplier<Mono<String>>> failing =
              List.of(
                  () -> Mono.error(failure),
                  () -> {
                    throw failure;
                  });
          for (Supplier<Mono<String>> work : failing) {
            StepVerifier.create(
                    shop.ship(1, work).doOnError(seen -> assertThat(isHeld(store)).isFalse()))
                .expectErrorMatches(seen -> seen == failure)
                .verify(PATIENCE);
          }
        });
  }

  @Test
  void aMethodThatReturnsNullFailsAndReleases() {
    run(
        (shop, store) -> {
          StepVerifier.create(shop.<String>ship(1, () -> null))
              .expectErrorMessage(Shop.class.getName() + ".ship returned null")
              .verify(PATIENCE);
          assertThat(isHeld(store)).isFalse();
        });
  }

  @Test
  void aCancellationReleasesTheLock() {
    run(
        (shop, store) -> {
          Endless work = new Endless();
          Disposable subscription = shop.ship(1, work::begin).subscribe();
          assertThat(work.lease().isHeld()).isTrue();

          subscription.dispose();

          work.untilCancelled();
          Eventually.soon().untilAsserted(() -> assertThat(isHeld(store)).isFalse());
        });
  }

  @Test
  void aHeldLockFailsOrSkipsAndTheMethodDoesNotRun() {
    run(
        (shop, store) -> {
          store.steal(NAME, TTL);
          AtomicInteger calls = new AtomicInteger();
          Supplier<Mono<Integer>> work = () -> Mono.just(calls.incrementAndGet());
          StepVerifier.create(shop.ship(1, work))
              .expectError(LockContendedException.class)
              .verify(PATIENCE);
          StepVerifier.create(shop.skip(1, work)).expectComplete().verify(PATIENCE);
          StepVerifier.create(shop.skipMany(1)).expectComplete().verify(PATIENCE);

          StepVerifier.create(shop.skip(2, work)).expectNext(1).expectComplete().verify(PATIENCE);
        });
  }

  @Test
  void anotherLockThatIsHeldInsideTheWorkIsNoReasonToSkip() {
    run(
        (shop, store) -> {
          store.steal("order-2", TTL);
          StepVerifier.create(shop.skip(1, () -> shop.ship(2, LockedReactiveTest::done)))
              .expectError(LockContendedException.class)
              .verify(PATIENCE);
        });
  }

  @Test
  void anOutageFailsAlsoIfTheCallMaySkip() {
    run(
        (shop, store) -> {
          store.outage(true);
          StepVerifier.create(shop.skip(1, LockedReactiveTest::done))
              .expectError(LockOutageException.class)
              .verify(PATIENCE);
        });
  }

  @Test
  void aLossCancelsTheWorkAndFails() {
    run(
        (shop, store) -> {
          Endless work = new Endless();
          StepVerifier.create(shop.ship(1, work::begin))
              .expectSubscription()
              .then(() -> lose(store, work.lease()))
              .expectError(LockLostException.class)
              .verify(PATIENCE);
          work.untilCancelled();
        });
  }

  @Test
  void theNameIsEvaluatedOnceAtTheCall() {
    run(
        (shop, store) -> {
          assertThatThrownBy(() -> shop.ship("", LockedReactiveTest::done))
              .isInstanceOf(LockConfigurationException.class)
              .hasMessageContaining("is empty");

          StringBuilder id = new StringBuilder("1");
          Mono<Boolean> shipped = shop.ship(id, () -> Mono.fromSupplier(() -> isHeld(store)));
          id.append("-changed after the call");
          StepVerifier.create(shipped).expectNext(true).expectComplete().verify(PATIENCE);
        });
  }

  @Test
  void aNestedCallForTheSameNameJoinsInTheSameChain() {
    run(
        (shop, store) -> {
          Mono<String> token = shop.ship(1, () -> Mono.just(currentToken()));
          Mono<List<String>> nested =
              shop.ship(
                  1,
                  () -> {
                    String outer = currentToken();
                    Mono<String> inner = shop.ship(2, () -> token);
                    return inner
                        .delayElement(Duration.ofMillis(1)) // on another thread
                        .map(joined -> List.of(outer, joined))
                        .filter(tokens -> isHeld(store));
                  });

          StepVerifier.create(nested)
              .assertNext(tokens -> assertThat(tokens.get(0)).isEqualTo(tokens.get(1)))
              .expectComplete()
              .verify(PATIENCE);
          assertThat(isHeld(store)).isFalse();
        });
  }

  private static String currentToken() {
    return Locks.current().orElseThrow().token();
  }

  @Test
  void aCallUnderTheLockOfItsThreadJoinsAndFailsIfThatWasReleasedBeforeTheEnd() {
    run(
        (shop, store) -> {
          Sinks.One<String> work = Sinks.one();
          List<String> values = new CopyOnWriteArrayList<>();
          List<Throwable> failures = new CopyOnWriteArrayList<>();
          shop.blocking(
              1,
              () -> {
                String token = currentToken();
                assertThat(shop.ship(1, () -> Mono.just(currentToken())).block(PATIENCE))
                    .isEqualTo(token);
                return shop.ship(1, work::asMono).subscribe(values::add, failures::add);
              });
          assertThat(isHeld(store)).isFalse();
          work.tryEmitValue("done").orThrow();

          assertThat(values).isEmpty();
          assertThat(failures)
              .singleElement()
              .isInstanceOf(IllegalStateException.class)
              .asString()
              .contains(NAME);
        });
  }

  @Test
  void aCallThatIsSubscribedAfterTheThreadsLockWasReleasedAcquiresALeaseOfItsOwn() {
    run(
        (shop, store) -> {
          AtomicReference<Mono<Boolean>> later = new AtomicReference<>();
          shop.blocking(
              1,
              () -> {
                later.set(shop.ship(1, () -> Mono.fromSupplier(() -> isHeld(store))));
                return "done";
              });
          assertThat(isHeld(store)).isFalse();

          StepVerifier.create(Objects.requireNonNull(later.get()))
              .expectNext(true)
              .expectComplete()
              .verify(PATIENCE);
        });
  }

  @Configuration(proxyBeanMethods = false)
  @EnableResilientMethods
  static class Retries {
    @Bean
    Worker worker() {
      return new Worker();
    }
  }

  static class Worker {
    @Retryable(delay = 0, maxRetries = 1)
    @Locked(name = "job")
    public Mono<String> retried(List<String> tokens) {
      tokens.add(currentToken());
      return tokens.size() == 1
          ? Mono.error(new IllegalStateException("of the first try"))
          : Mono.just("done");
    }
  }

  @Test
  void eachTryOfARetriedMethodHasALeaseOfItsOwn() {
    contexts
        .withUserConfiguration(Retries.class)
        .run(
            context -> {
              List<String> tokens = new CopyOnWriteArrayList<>();
              StepVerifier.create(context.getBean(Worker.class).retried(tokens))
                  .expectNext("done")
                  .expectComplete()
                  .verify(PATIENCE);
              assertThat(tokens).hasSize(2).doesNotHaveDuplicates();
            });
  }

  @Test
  void theStartFailsWithoutHoldfastReactor() {
    contexts
        .withBean(Shop.class)
        .withClassLoader(new FilteredClassLoader("dev.holdfast.reactor"))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("LockedReactiveTest$Shop.")
                    .hasStackTraceContaining("add the dependency dev.holdfast:holdfast-reactor"));
  }

  @Configuration(proxyBeanMethods = false)
  static class Scoped {
    @Bean
    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    Shop shop() {
      return new Shop();
    }
  }

  @Test
  void aBeanBehindAScopedProxyIsLocked() {
    contexts
        .withUserConfiguration(Scoped.class)
        .run(
            context -> {
              MemoryStore store =
                  context.getBean(LockManager.class).unwrap(MemoryStore.class).orElseThrow();
              Shop shop = context.getBean("shop", Shop.class);
              assertThat(shop.ship(1, () -> Mono.just(isHeld(store))).block(PATIENCE)).isTrue();
              assertThat(isHeld(store)).isFalse();
            });
  }
}
