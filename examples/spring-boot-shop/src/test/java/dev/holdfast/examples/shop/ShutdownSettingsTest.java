package dev.holdfast.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionProperties;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingProperties;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The settings of {@code application.yml} for work that is finishing at shutdown. */
class ShutdownSettingsTest {
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    LifecycleAutoConfiguration.class,
    TaskExecutionAutoConfiguration.class,
    TaskSchedulingAutoConfiguration.class
  })
  static class Executors {}

  @Test
  void springWaitsForWorkThatIsFinishingWithinTheTimeOfAPhase() {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(Executors.class).web(WebApplicationType.NONE).run()) {
      Duration phase = context.getBean(LifecycleProperties.class).getTimeoutPerShutdownPhase();
      var execution = context.getBean(TaskExecutionProperties.class).getShutdown();
      var scheduling = context.getBean(TaskSchedulingProperties.class).getShutdown();

      assertThat(execution.isAwaitTermination()).isTrue();
      assertThat(execution.getAwaitTerminationPeriod()).isPositive().isLessThan(phase);
      assertThat(scheduling.isAwaitTermination()).isTrue();
      assertThat(scheduling.getAwaitTerminationPeriod()).isPositive().isLessThan(phase);
    }
  }
}
