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
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Mono;

class LockedTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final ApplicationContextRunner contexts =
      Contexts.inMemory().withPropertyValues("shop.prefix=order");

  @Retention(RetentionPolicy.RUNTIME)
  @Locked(name = "unused", whenHeld = Locked.WhenHeld.SKIP)
  @interface OncePerCluster {
    @AliasFor(annotation = Locked.class, attribute = "name")
    String value();
  }

  static class Shop {
    @Locked(name = "${shop.prefix}-#{#id}")
    public <T> T ship(Object id, Supplier<T> work) {
      return work.get();
    }

    @Locked(name = "#{#p0}-a")
    public String first(String id) {
      return Locks.current().orElseThrow().name();
    }

    @Locked(name = "order#123")
    public String plain() {
      return Locks.current().orElseThrow().name();
    }

    @Locked(name = "order-#{#id}", whenHeld = Locked.WhenHeld.SKIP)
    public String skip(int id) {
      return "done";
    }

    @Locked(name = "order-#{#id}", whenHeld = Locked.WhenHeld.SKIP)
    public Optional<String> skipOptional(int id) {
      return Optional.of("done");
    }

    @Locked(name = "order-#{#id}", whenHeld = Locked.WhenHeld.SKIP)
    public CompletableFuture<Optional<String>> skipStage(int id) {
      return CompletableFuture.completedFuture(Optional.of("done"));
    }

    @Locked(name = "order-#{#id}")
    public CompletableFuture<String> stage(int id, CompletableFuture<String> work) {
      return work;
    }

    @Locked(name = "order-#{#id}")
    public CompletableFuture<String> stageOf(int id, Supplier<CompletableFuture<String>> work) {
      return work.get();
    }

    @OncePerCluster("report")
    public String report() {
      return "done";
    }

    @Locked(name = "short", ttl = "PT7S")
    public Duration shortTtl() {
      return Locks.current().orElseThrow().remaining();
    }

    @Locked(name = "long")
    public Duration defaultTtl() {
      return Locks.current().orElseThrow().remaining();
    }
  }

  private void run(Use use) {
    contexts
        .withBean(Shop.class)
        .run(
            context -> {
              LockManager locks = context.getBean(LockManager.class);
              MemoryStore store = locks.unwrap(MemoryStore.class).orElseThrow();
              use.with(context.getBean(Shop.class), locks, store);
            });
  }

  private interface Use {
    void with(Shop shop, LockManager locks, MemoryStore store) throws Exception;
  }

  @Test
  void theLockIsHeldWhileTheMethodRunsAndReleasedAfter() {
    run(
        (shop, locks, store) -> {
          assertThat(shop.<Boolean>ship(4711, () -> store.holder("order-4711").isPresent()))
              .isTrue();
          assertThat(store.holder("order-4711")).isEmpty();
        });
  }

  @Test
  void aMethodThatThrowsReleasesItsLock() {
    run(
        (shop, locks, store) -> {
          IllegalArgumentException failure = new IllegalArgumentException("of the work");
          assertThatThrownBy(
                  () ->
                      shop.ship(
                          1,
                          () -> {
                            throw failure;
                          }))
              .isSameAs(failure);
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  @Test
  void parametersHaveNumbersAndAHashIsNoExpression() {
    run(
        (shop, locks, store) -> {
          assertThat(shop.first("x")).isEqualTo("x-a");
          assertThat(shop.plain()).isEqualTo("order#123");
        });
  }

  @ParameterizedTest
  @NullAndEmptySource
  void aNullOrEmptyKeyIsAnError(String id) {
    run(
        (shop, locks, store) ->
            assertThatThrownBy(() -> shop.ship(id, () -> "never"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("LockedTest$Shop.ship")
                .hasMessageContaining(id == null ? "is null" : "is empty"));
  }

  @Test
  void theTtlIsThatOfTheAnnotationOrOfTheProperty() {
    contexts
        .withBean(Shop.class)
        .withPropertyValues("holdfast.locked.ttl=20s")
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              assertThat(shop.shortTtl()).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(7));
              assertThat(shop.defaultTtl())
                  .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
            });
  }

  @Test
  void aHeldLockThrowsOrSkips() {
    run(
        (shop, locks, store) -> {
          store.steal("order-1", TTL);
          store.steal("report", TTL);

          assertThatThrownBy(() -> shop.ship(1, () -> "never"))
              .isInstanceOf(LockContendedException.class);
          assertThat(shop.skip(1)).isNull();
          assertThat(shop.skipOptional(1)).isEmpty();
          assertThat(shop.skipStage(1)).isCompletedWithValue(Optional.empty());
          assertThat(shop.report()).isNull();
          assertThat(shop.skip(2)).isEqualTo("done");
        });
  }

  @Test
  void anOutageThrowsAlsoIfTheCallMaySkip() {
    run(
        (shop, locks, store) -> {
          store.outage(true);
          assertThatThrownBy(() -> shop.skip(1)).isInstanceOf(LockOutageException.class);
        });
  }

  @Test
  void aNestedCallForTheSameNameJoinsAndDoesNotRelease() {
    run(
        (shop, locks, store) -> {
          String joined =
              shop.ship(
                  1,
                  () -> {
                    String token = Locks.current().orElseThrow().token();
                    String inner =
                        shop.ship(
                            2, () -> shop.ship(1, () -> Locks.current().orElseThrow().token()));
                    assertThat(store.holder("order-1")).hasValue(token);
                    assertThat(store.holder("order-2")).isEmpty();
                    return token.equals(inner) ? "joined" : "another lease";
                  });
          assertThat(joined).isEqualTo("joined");
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  /** Calls a method with a stage, whose end the lock must outlast. */
  private void assertThatTheLockIsHeldUntilTheEnd(
      BiFunction<Shop, CompletableFuture<String>, CompletableFuture<String>> call) {
    run(
        (shop, locks, store) -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          CompletableFuture<String> result = call.apply(shop, work);
          assertThat(store.holder("order-1")).isPresent();
          assertThat(result).isNotDone();

          work.complete("done");

          assertThat(result).succeedsWithin(TTL).isEqualTo("done");
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  @Test
  void aStageHoldsTheLockUntilItEnds() {
    assertThatTheLockIsHeldUntilTheEnd((shop, work) -> shop.stage(1, work));
  }

  @Test
  void aStageBehindAPlainResultHoldsTheLockUntilItEnds() {
    assertThatTheLockIsHeldUntilTheEnd(
        (shop, work) -> shop.ship(1, () -> shop.ship(1, () -> work)));
  }

  @Test
  void aPublisherBehindAPlainResultIsRefused() {
    run(
        (shop, locks, store) -> {
          assertThatThrownBy(() -> shop.ship(1, () -> Mono.just("late")))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("Shop.ship returned a publisher")
              .hasMessageContaining("declare a Mono or a Flux as its result");
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  @Test
  void aCancelledStageHoldsItsLockUntilTheWorkHasEnded() {
    run(
        (shop, locks, store) -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          CompletableFuture<String> cancelled = shop.stage(1, work);
          assertThat(cancelled.cancel(true)).isTrue();
          assertThat(work).as("the work goes on").isNotDone();
          assertThat(store.holder("order-1")).isPresent();

          work.complete("done");
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  @Test
  void aStageWhoseWorkReleasesTheLockDoesNotFail() {
    run(
        (shop, locks, store) -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          Lease[] lease = new Lease[1];
          CompletableFuture<String> result = shop.stageOf(1, noting(lease, work));
          lease[0].close();
          work.complete("done");

          assertThat(result).succeedsWithin(TTL).isEqualTo("done");
        });
  }

  /** Returns a body that notes its lease and returns a stage. */
  private static Supplier<CompletableFuture<String>> noting(
      Lease[] lease, CompletableFuture<String> work) {
    return () -> {
      lease[0] = Locks.current().orElseThrow();
      return work;
    };
  }

  @Test
  void aFailedStageReleasesItsLock() {
    run(
        (shop, locks, store) -> {
          assertThat(shop.stage(1, CompletableFuture.failedFuture(new IllegalStateException("x"))))
              .failsWithin(TTL)
              .withThrowableOfType(ExecutionException.class)
              .withMessageContaining("x");
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  @Test
  void aStageFailsIfTheLeaseThatItJoinedEndedBefore() {
    run(
        (shop, locks, store) -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          AtomicReference<CompletableFuture<String>> result = new AtomicReference<>();
          Lease lease =
              shop.ship(
                  1,
                  () -> {
                    result.set(shop.stage(1, work));
                    return Locks.current().orElseThrow();
                  });
          assertThat(lease.isHeld()).isFalse();
          work.complete("done");
          assertThat(result.get())
              .as("it joined a lease that was released before its end")
              .failsWithin(TTL)
              .withThrowableOfType(ExecutionException.class)
              .withCauseInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void aStageFailsIfTheLockWasLost() {
    run(
        (shop, locks, store) -> {
          CompletableFuture<String> work = new CompletableFuture<>();
          Lease[] lease = new Lease[1];
          CompletableFuture<String> result = shop.stageOf(1, noting(lease, work));
          lose(store, lease[0]);
          work.complete("done");

          assertThat(result)
              .failsWithin(TTL)
              .withThrowableOfType(ExecutionException.class)
              .withCauseInstanceOf(LockLostException.class);
        });
  }

  @Test
  void anInterruptedWaitKeepsTheInterruptAndLeavesNoLock() {
    run(
        (shop, locks, store) -> {
          Thread.currentThread().interrupt();
          assertThatThrownBy(() -> shop.ship(1, () -> "never"))
              .isInstanceOf(IllegalStateException.class)
              .hasCauseInstanceOf(InterruptedException.class)
              .hasMessageContaining("order-1");
          assertThat(Thread.interrupted()).isTrue();
          assertThat(store.holder("order-1")).isEmpty();
        });
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  @EnableResilientMethods
  static class LateAsyncAndRetries extends AsyncAndRetries {}

  static class AsyncAndRetries {
    @Bean
    Worker worker() {
      return new Worker();
    }

    @Bean
    TaskExecutor taskExecutor() {
      return new SimpleAsyncTaskExecutor();
    }
  }

  static class Worker {
    private final List<String> tokens = new CopyOnWriteArrayList<>();

    @Async
    @Locked(name = "job")
    public CompletableFuture<String> asynchronous() {
      return CompletableFuture.completedFuture(Locks.requireCurrent("job").name());
    }

    @Retryable(delay = 0, maxRetries = 1)
    @Locked(name = "job")
    public List<String> retried() {
      tokens.add(Locks.requireCurrent("job").token());
      if (tokens.size() == 1) {
        throw new IllegalStateException("of the first attempt");
      }
      return tokens;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
  @EnableResilientMethods(order = Ordered.HIGHEST_PRECEDENCE)
  static class EarlyAsyncAndRetries extends AsyncAndRetries {}

  @ParameterizedTest
  @ValueSource(classes = {LateAsyncAndRetries.class, EarlyAsyncAndRetries.class})
  void theLockIsInsideAsyncAndRetries(Class<?> configuration) {
    contexts
        .withUserConfiguration(configuration)
        .run(
            context -> {
              Worker worker = context.getBean(Worker.class);
              assertThat(worker.asynchronous()).succeedsWithin(TTL).isEqualTo("job");
              assertThat(worker.retried()).hasSize(2).doesNotHaveDuplicates();
            });
  }

  @Test
  void aLossIsThrownWhateverTheMethodReturned() {
    run(
        (shop, locks, store) -> {
          assertThatThrownBy(() -> shop.ship(1, () -> lose(store)))
              .isInstanceOf(LockLostException.class);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  /** Steals the lock of the running method, so that its lease knows it. */
  static String lose(MemoryStore store) {
    return lose(store, Locks.current().orElseThrow());
  }

  static String lose(MemoryStore store, Lease lease) {
    store.steal(lease.name(), TTL);
    assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
    return "done";
  }
}
