package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

/** Locked methods that a scheduler or an executor of Spring calls. */
class LockedSchedulingTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Jobs of two instances of an application, which count together. */
  static class Jobs {
    private final AtomicInteger runs;

    Jobs(AtomicInteger runs) {
      this.runs = runs;
    }

    @Scheduled(fixedDelayString = "${jobs.period}")
    @Locked(name = "${jobs.name}", holdAtLeast = "24h", whenHeld = Locked.WhenHeld.SKIP)
    public void report() {
      runs.incrementAndGet();
    }
  }

  static class ReactiveJobs {
    private final AtomicInteger runs;

    ReactiveJobs(AtomicInteger runs) {
      this.runs = runs;
    }

    @Scheduled(fixedDelayString = "${jobs.period}")
    @Locked(name = "${jobs.name}", holdAtLeast = "24h", whenHeld = Locked.WhenHeld.SKIP)
    public Mono<Integer> report() {
      return Mono.fromSupplier(runs::incrementAndGet);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  @EnableAsync
  @EnableResilientMethods
  static class Enabled {
    @Bean
    Worker worker() {
      return new Worker();
    }
  }

  private static ApplicationContextRunner instance(String store) {
    return Contexts.of(
            HoldfastAutoConfiguration.class,
            TaskExecutionAutoConfiguration.class,
            TaskSchedulingAutoConfiguration.class)
        .withUserConfiguration(Enabled.class)
        .withPropertyValues(
            "holdfast.url=memory:" + store, "jobs.name=report-" + store, "jobs.period=20");
  }

  private static AtomicInteger refusals(LockManager locks) {
    AtomicInteger refusals = new AtomicInteger();
    locks.addListener(
        new LockListener() {
          @Override
          public void onNotGranted(String name, Failure failure, long waitedNanos) {
            if (failure == Failure.CONTENDED) {
              refusals.incrementAndGet();
            }
          }
        });
    return refusals;
  }

  private static void untilRefused(LockManager locks) {
    AtomicInteger refusals = refusals(locks);
    Eventually.within(PATIENCE).until(() -> refusals.get() >= 3);
  }

  /** Two instances, of which the second begins when the first has finished: its clock is late. */
  private static <T> void runsOnceInTheCluster(Class<T> type, Function<AtomicInteger, T> jobs) {
    AtomicInteger runs = new AtomicInteger();
    ApplicationContextRunner instance =
        instance(UUID.randomUUID().toString()).withBean(type, () -> jobs.apply(runs));
    instance.run(
        first -> {
          untilRefused(first.getBean(LockManager.class));
          instance.run(
              second -> {
                untilRefused(second.getBean(LockManager.class));
                untilRefused(first.getBean(LockManager.class));
              });
        });
    assertThat(runs).hasValue(1);
  }

  @Test
  void aScheduledMethodRunsOnceInTheClusterAlsoIfAClockIsLate() {
    runsOnceInTheCluster(Jobs.class, Jobs::new);
  }

  @Test
  void aScheduledMonoRunsOnceInTheCluster() {
    runsOnceInTheCluster(ReactiveJobs.class, ReactiveJobs::new);
  }

  static class Worker {
    @Async
    @Locked(name = "job")
    public CompletableFuture<String> onAnExecutor() {
      Locks.requireCurrent("job");
      return CompletableFuture.completedFuture(Thread.currentThread().toString());
    }

    @ConcurrencyLimit(1)
    @Locked(name = "#{#id}")
    public void limited(String id, Runnable work) {
      work.run();
    }
  }

  @Test
  void aCallThatWaitsForAConcurrencyLimitHoldsNoLock() {
    instance("limits")
        .run(
            context -> {
              Worker worker = context.getBean(Worker.class);
              MemoryStore store =
                  context.getBean(LockManager.class).unwrap(MemoryStore.class).orElseThrow();
              Thread second = new Thread(() -> worker.limited("b", () -> {}));
              worker.limited(
                  "a",
                  () -> {
                    second.start();
                    Eventually.soon().until(() -> second.getState() == Thread.State.WAITING);
                    assertThat(store.holder("a")).isPresent();
                    assertThat(store.holder("b")).isEmpty();
                  });
              second.join(PATIENCE.toMillis());
              assertThat(second.isAlive()).isFalse();
            });
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_21)
  void virtualThreadsLockAsOthersDo() {
    instance("virtual")
        .withPropertyValues("spring.threads.virtual.enabled=true")
        .run(
            context -> {
              Worker worker = context.getBean(Worker.class);
              assertThat(worker.onAnExecutor())
                  .succeedsWithin(PATIENCE)
                  .satisfies(
                      thread ->
                          assertThat(Objects.requireNonNull(thread)).startsWith("VirtualThread"));
              assertThat(
                      context
                          .getBean(LockManager.class)
                          .unwrap(MemoryStore.class)
                          .orElseThrow()
                          .holder("job"))
                  .isEmpty();
            });
  }
}
