package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/** Work that runs when the context closes, on the executor and the scheduler of Boot. */
class ShutdownTest {
  private final ApplicationContextRunner contexts =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  HoldfastAutoConfiguration.class,
                  TaskExecutionAutoConfiguration.class,
                  TaskSchedulingAutoConfiguration.class))
          .withUserConfiguration(Application.class)
          .withPropertyValues("holdfast.url=memory:");

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  @EnableAsync
  static class Application {
    @Bean
    ExecutorsStop executorsStop() {
      return new ExecutorsStop();
    }

    @Bean
    Report report() {
      return new Report();
    }

    @Bean
    Jobs jobs(Report report, ExecutorsStop stop) {
      return new Jobs(report, stop);
    }
  }

  /** A bean that stops when executors do: after all beans of higher phases have stopped. */
  static class ExecutorsStop implements SmartLifecycle {
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean running;

    @Override
    public void start() {
      running = true;
    }

    @Override
    public void stop() {
      begun.countDown();
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return ExecutorConfigurationSupport.DEFAULT_PHASE;
    }

    void await() throws InterruptedException {
      assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  static class Report {
    @Locked(name = "report-#{#of}")
    public String write(String of) {
      return Locks.requireCurrent("report-" + of).name();
    }
  }

  static class Jobs {
    private final Report report;
    private final ExecutorsStop stop;
    private final CountDownLatch started = new CountDownLatch(2);
    private final CompletableFuture<String> scheduled = new CompletableFuture<>();
    private final CompletableFuture<String> asynchronous = new CompletableFuture<>();

    Jobs(Report report, ExecutorsStop stop) {
      this.report = report;
      this.stop = stop;
    }

    @Scheduled(initialDelay = 0, fixedDelay = 1, timeUnit = TimeUnit.DAYS)
    @Locked(name = "scheduled")
    public void onSchedule() {
      finishDuringTheStop(scheduled);
    }

    @Async
    @Locked(name = "asynchronous")
    public void asynchronously() {
      finishDuringTheStop(asynchronous);
    }

    private void finishDuringTheStop(CompletableFuture<String> result) {
      try {
        String own = Locks.current().orElseThrow().name();
        started.countDown();
        stop.await();
        result.complete(own + ", " + report.write(own));
      } catch (Throwable failure) {
        result.completeExceptionally(failure);
      }
    }

    public CompletableFuture<String> scheduled() {
      return scheduled;
    }

    public CompletableFuture<String> asynchronous() {
      return asynchronous;
    }

    public void awaitStart() throws InterruptedException {
      assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void workThatFinishesDuringTheStopStillGetsItsLocks() {
    contexts.run(
        context -> {
          Jobs jobs = context.getBean(Jobs.class);
          LockManager locks = context.getBean(LockManager.class);
          jobs.asynchronously();
          jobs.awaitStart();
          assertThat(locks.leases()).hasSize(2);

          context.getSourceApplicationContext(ConfigurableApplicationContext.class).close();

          assertThat(jobs.scheduled()).isCompletedWithValue("scheduled, report-scheduled");
          assertThat(jobs.asynchronous()).isCompletedWithValue("asynchronous, report-asynchronous");
          assertThat(locks.leases()).isEmpty();
          assertThatThrownBy(() -> locks.tryAcquire("a", Duration.ofSeconds(30)))
              .isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void aManagerThatWasStoppedDoesNotStartAgain() {
    contexts.run(
        context -> {
          context.stop();

          assertThatThrownBy(context::start)
              .hasStackTraceContaining("a lock manager that was stopped does not start again");
        });
  }
}
