package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/** Work that runs when the context closes, on the executor and the scheduler of Boot. */
class ShutdownTest {
  private final ApplicationContextRunner contexts =
      Contexts.of(
              HoldfastAutoConfiguration.class,
              TaskExecutionAutoConfiguration.class,
              TaskSchedulingAutoConfiguration.class)
          .withUserConfiguration(Application.class)
          .withPropertyValues("holdfast.url=memory:");

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  @EnableAsync
  static class Application {
    @Bean
    Stop executorsStop() {
      return new Stop(ExecutorConfigurationSupport.DEFAULT_PHASE);
    }

    @Bean
    Stop stopAfterExecutors() {
      return new Stop(ExecutorsLifecycle.PHASE - 1);
    }

    @Bean
    Report report() {
      return new Report();
    }

    @Bean
    Jobs jobs(Report report, Stop executorsStop, Stop stopAfterExecutors) {
      return new Jobs(report, executorsStop, stopAfterExecutors);
    }
  }

  /** A bean that stops after all beans of higher phases have stopped. */
  static class Stop implements SmartLifecycle {
    private final int phase;
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean running;

    Stop(int phase) {
      this.phase = phase;
    }

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
      return phase;
    }

    boolean beginsWithin(Duration limit) throws InterruptedException {
      return begun.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** A bean that stops after the lock managers and looks whether the executor still works. */
  static class LastStop extends Stop {
    private final SimpleAsyncTaskExecutor executor;
    private volatile boolean wasActive;

    LastStop(SimpleAsyncTaskExecutor executor) {
      super(ManagerLifecycle.PHASE - 1);
      this.executor = executor;
    }

    @Override
    public void stop() {
      wasActive = executor.isActive();
      super.stop();
    }

    boolean wasActive() {
      return wasActive;
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
    private final Stop executorsStop;
    private final Stop stopAfterExecutors;
    private final CountDownLatch started = new CountDownLatch(2);
    private final CompletableFuture<String> scheduled = new CompletableFuture<>();
    private final CompletableFuture<String> asynchronous = new CompletableFuture<>();

    Jobs(Report report, Stop executorsStop, Stop stopAfterExecutors) {
      this.report = report;
      this.executorsStop = executorsStop;
      this.stopAfterExecutors = stopAfterExecutors;
    }

    @Scheduled(initialDelay = 0, fixedRate = 1, timeUnit = TimeUnit.DAYS)
    @Locked(name = "scheduled")
    public void onSchedule() {
      finishDuringTheStop(scheduled, () -> {});
    }

    @Async
    @Locked(name = "asynchronous")
    public void asynchronously() {
      finishDuringTheStop(asynchronous, scheduled::join); // so that this alone keeps the stop
    }

    private void finishDuringTheStop(CompletableFuture<String> result, Runnable others) {
      try {
        String own = Locks.current().orElseThrow().name();
        started.countDown();
        assertThat(executorsStop.beginsWithin(Duration.ofSeconds(60))).isTrue();
        others.run();
        assertThat(stopAfterExecutors.beginsWithin(Duration.ofMillis(300)))
            .as("the stop goes on while this works")
            .isFalse();
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

  /** An executor as Boot makes it for virtual threads, with {@code await-termination}. */
  @Configuration(proxyBeanMethods = false)
  static class ThreadForEachTask {
    @Bean({"applicationTaskExecutor", "taskExecutor"})
    SimpleAsyncTaskExecutor applicationTaskExecutor() {
      SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("task-");
      executor.setTaskTerminationTimeout(30_000);
      return executor;
    }
  }

  @Test
  void workThatFinishesDuringTheStopStillGetsItsLocks() {
    runAndClose(contexts);
  }

  @Test
  void workOnAThreadOfItsOwnThatFinishesDuringTheStopStillGetsItsLocks() {
    runAndClose(contexts.withUserConfiguration(ThreadForEachTask.class));
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_21)
  void workOnVirtualThreadsThatFinishesDuringTheStopStillGetsItsLocks() {
    runAndClose(onVirtualThreads());
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_21)
  void aScheduledMethodOnAVirtualThreadThatFinishesDuringTheStopStillGetsItsLocks() {
    onVirtualThreads()
        .run(
            context -> {
              Jobs jobs = context.getBean(Jobs.class);
              LockManager locks = context.getBean(LockManager.class);
              await().until(() -> locks.leases().size() == 1);

              context.getSourceApplicationContext(ConfigurableApplicationContext.class).close();

              assertThat(jobs.scheduled()).isCompletedWithValue("scheduled, report-scheduled");
            });
  }

  private ApplicationContextRunner onVirtualThreads() {
    return contexts.withPropertyValues(
        "spring.threads.virtual.enabled=true",
        "spring.task.execution.shutdown.await-termination=true",
        "spring.task.execution.shutdown.await-termination-period=20s",
        "spring.task.scheduling.shutdown.await-termination=true",
        "spring.task.scheduling.shutdown.await-termination-period=20s");
  }

  static class Failing extends SimpleAsyncTaskExecutor {
    private static final long serialVersionUID = 1;

    @Override
    public void close() {
      super.close();
      throw new IllegalStateException("close failed");
    }
  }

  @Test
  void anExecutorThatCannotBeClosedStopsNoOther() {
    contexts
        .withBean("a", SimpleAsyncTaskExecutor.class, Failing::new)
        .withBean("b", SimpleAsyncTaskExecutor.class, SimpleAsyncTaskExecutor::new)
        .run(
            context -> {
              SimpleAsyncTaskExecutor other = context.getBean("b", SimpleAsyncTaskExecutor.class);
              ExecutorsLifecycle lifecycle = context.getBean(ExecutorsLifecycle.class);
              lifecycle.onApplicationEvent(
                  new ContextClosedEvent(context.getSourceApplicationContext()));

              CompletableFuture<Boolean> stopped = new CompletableFuture<>();
              lifecycle.stop(() -> stopped.complete(true));

              assertThat(stopped).succeedsWithin(60, TimeUnit.SECONDS);
              assertThat(other.isActive()).isFalse();
            });
  }

  @Test
  void anExecutorWorksOnAfterAStopOfTheContextThatIsNoClose() {
    contexts
        .withUserConfiguration(ThreadForEachTask.class)
        .run(
            context -> {
              context.stop();

              assertThat(context.getBean(SimpleAsyncTaskExecutor.class).isActive()).isTrue();
            });
  }

  @Test
  void withoutALockManagerTheExecutorsEndWhenSpringEndsThem() {
    Contexts.of(HoldfastAutoConfiguration.class)
        .withUserConfiguration(ThreadForEachTask.class)
        .withBean(LastStop.class)
        .run(
            context -> {
              LastStop last = context.getBean(LastStop.class);

              context.getSourceApplicationContext(ConfigurableApplicationContext.class).close();

              assertThat(last.wasActive()).isTrue();
            });
  }

  private static void runAndClose(ApplicationContextRunner contexts) {
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
