package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalysisReporter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The report that Spring Boot prints when an application does not start. */
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

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
  static class Choosing {
    @Bean
    String name(@Qualifier("reports") LockManager locks) {
      return locks.backend();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
  static class ChoosingByAnAnnotation {
    @Retention(RetentionPolicy.RUNTIME)
    @Qualifier
    @interface Reports {}

    @Bean
    String name(@Reports LockManager locks) {
      return locks.backend();
    }
  }

  /** Keeps the last report. Found by Spring Boot in META-INF/spring.factories. */
  static final class Recorder implements FailureAnalysisReporter {
    private static final AtomicReference<@Nullable FailureAnalysis> LAST = new AtomicReference<>();

    @Override
    public void report(FailureAnalysis analysis) {
      LAST.set(analysis);
    }
  }

  private static FailureAnalysis reportOf(Class<?> application, String... properties) {
    Recorder.LAST.set(null);
    SpringApplicationBuilder builder =
        new SpringApplicationBuilder(application).web(WebApplicationType.NONE);
    String[] arguments = Stream.of(properties).map(each -> "--" + each).toArray(String[]::new);
    assertThatThrownBy(() -> builder.run(arguments).close()).isInstanceOf(RuntimeException.class);
    return Objects.requireNonNull(Recorder.LAST.get(), "no report");
  }

  @Test
  void aLockedMethodWithoutAManagerIsReportedWithTheKeysToSet() {
    FailureAnalysis report = reportOf(Locking.class);

    assertThat(report.getDescription()).contains("Job.run needs one lock manager");
    assertThat(report.getAction()).startsWith("Set holdfast.url, holdfast.nodes");
  }

  @Test
  void anInjectedManagerThatIsMissingIsReportedWithTheKeysToSet() {
    FailureAnalysis report = reportOf(Injecting.class);

    assertThat(report.getDescription()).startsWith("A bean needs a lock manager");
    assertThat(report.getAction()).startsWith("Set holdfast.url or holdfast.nodes");
  }

  @Test
  void aQualifierThatFitsNoManagerIsReportedWithThoseThatExist() {
    FailureAnalysis report =
        reportOf(Choosing.class, "holdfast.url=memory:", "holdfast.managers.orders.url=memory:");

    assertThat(report.getDescription())
        .startsWith("No lock manager fits: a bean needs 'reports', and there are [")
        .contains("lockManager", "orders");
    assertThat(report.getAction())
        .isEqualTo(
            "Set holdfast.managers.reports.url or holdfast.managers.reports.nodes, or name one of"
                + " the lock managers that exist.");
  }

  @Test
  void aQualifierOfTheApplicationThatFitsNoManagerIsReportedWithThoseThatExist() {
    FailureAnalysis report = reportOf(ChoosingByAnAnnotation.class, "holdfast.url=memory:");

    assertThat(report.getDescription())
        .startsWith("No lock manager fits: there is [lockManager].")
        .contains("Reports");
    assertThat(report.getAction()).startsWith("Name one of the lock managers that exist, or");
  }

  @Test
  void aDriverThatIsMissingIsReportedWithTheDependencyToAdd() {
    FailureAnalysis report =
        reportOf(Locking.class, "holdfast.url=redlock:jedis:redis://127.0.0.1:1");

    assertThat(report.getAction())
        .isEqualTo("Add dev.holdfast:holdfast-redlock-jedis to the class path or module path.");
  }

  @Test
  void aTtlAboveTheLongestFailsTheStart() {
    FailureAnalysis report =
        reportOf(Locking.class, "holdfast.url=redlock:redis://127.0.0.1:1?connect=lazy");

    assertThat(report.getDescription()).contains("Job.run: the ttl, 600s, is above maxTtl, 60s");
  }

  @Test
  void theActionForAWrongUrlEndsBeforeTheExcerpt() {
    FailureAnalysis report =
        reportOf(Injecting.class, "holdfast.url=redlock:redis://127.0.0.1:1?keyPrefx=a");

    assertThat(report.getAction())
        .startsWith("The nearest is keyPrefix; all are ")
        .doesNotContain("^", "127.0.0.1");
  }
}
