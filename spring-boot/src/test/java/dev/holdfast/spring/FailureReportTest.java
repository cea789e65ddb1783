package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The report that Spring Boot prints when an application does not start. */
@ExtendWith(OutputCaptureExtension.class)
class FailureReportTest {
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
  static class Locking {
    @Bean
    Job job() {
      return new Job();
    }
  }

  static class Job {
    @Locked(name = "report", ttl = "10m")
    public void run() {}
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
  static class Injecting {
    @Bean
    String name(LockManager locks) {
      return locks.backend();
    }
  }

  private static void assertFails(Class<?> application, String... properties) {
    SpringApplicationBuilder builder =
        new SpringApplicationBuilder(application).web(WebApplicationType.NONE);
    String[] arguments = Stream.of(properties).map(each -> "--" + each).toArray(String[]::new);
    assertThatThrownBy(() -> builder.run(arguments).close()).isInstanceOf(RuntimeException.class);
  }

  @Test
  void aLockedMethodWithoutAManagerIsReportedWithTheKeysToSet(CapturedOutput output) {
    assertFails(Locking.class);

    assertThat(output)
        .contains("Job.run needs one lock manager")
        .contains("Set holdfast.url, holdfast.nodes or holdfast.managers");
  }

  @Test
  void anInjectedManagerThatIsMissingIsReportedWithTheKeysToSet(CapturedOutput output) {
    assertFails(Injecting.class);

    assertThat(output)
        .contains("A bean needs a lock manager, and there is none")
        .contains("Set holdfast.url or holdfast.nodes");
  }

  @Test
  void aTtlAboveTheLongestFailsTheStart(CapturedOutput output) {
    assertFails(Locking.class, "holdfast.url=redlock:redis://127.0.0.1:1?connect=lazy");

    assertThat(output).contains("Job.run: the ttl, 600s, is above maxTtl, 60s");
  }

  @Test
  void theActionForAWrongUrlEndsBeforeTheExcerpt(CapturedOutput output) {
    assertFails(Injecting.class, "holdfast.url=redlock:redis://127.0.0.1:1?keyPrefx=a");

    assertThat(output).containsPattern("Action:\\s+The nearest is keyPrefix; all are [^^]*\\Z");
  }
}
