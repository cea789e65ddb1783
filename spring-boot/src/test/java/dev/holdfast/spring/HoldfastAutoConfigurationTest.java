package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

class HoldfastAutoConfigurationTest {
  /** Boot's own, whose names stay in a list although their classes are hidden. */
  private static String of(String hiddenPackage) {
    return ImportCandidates.load(AutoConfiguration.class, HealthContributor.class.getClassLoader())
        .getCandidates()
        .stream()
        .filter(name -> name.startsWith(hiddenPackage + "."))
        .collect(Collectors.joining(","));
  }

  private static final Duration TTL = Duration.ofSeconds(30);

  private final ApplicationContextRunner contexts =
      Contexts.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class);
  private final ApplicationContextRunner withUrl =
      contexts.withPropertyValues("holdfast.url=memory:");
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withUserConfiguration(Application.class)
          .withPropertyValues("holdfast.url=memory:");

  /** Finds auto-configurations as applications do. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @Configuration(proxyBeanMethods = false)
  static class OwnManager {
    @Bean
    LockManager mine() {
      return LockManager.open("memory:");
    }
  }

  public static class Job {
    @Locked(name = "job")
    public void run() {}
  }

  @Test
  void theUrlOpensOneManagerWhichTheContextCloses() throws Exception {
    LockManager[] opened = new LockManager[1];

    withUrl.run(
        context -> {
          opened[0] = context.getBean(LockManager.class);
          assertThat(opened[0].tryAcquire("a", TTL).orElseThrow().release()).isTrue();
        });

    assertThatThrownBy(() -> opened[0].tryAcquire("a", TTL))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void optionsReachTheManager() {
    withUrl
        .withPropertyValues("holdfast.options.keyPrefix=orders:")
        .run(
            context -> {
              LockManager locks = context.getBean(LockManager.class);
              Lease lease = locks.acquire("a", TTL);
              assertThat(locks.unwrap(MemoryStore.class).orElseThrow().holder("orders:a"))
                  .isPresent();
              assertThat(lease.release()).isTrue();
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "holdfast.url=memory:,holdfast.enabled=false",
        "holdfast.url=memory:,holdfast.enabled=FALSE",
        "holdfast.url=memory:,holdfast.enabled=off",
        "holdfast.url=memory:,holdfast.enabled=no",
        "holdfast.url=memory:,holdfast.enabled=0",
        "holdfast.nodes[0].host=h1,holdfast.enabled=0"
      })
  void noManagerIsOpenedWithoutAUrlOrIfItIsSwitchedOff(String properties) {
    contexts
        .withPropertyValues(properties.isEmpty() ? new String[0] : properties.split(",", -1))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(LockManager.class)
                    .doesNotHaveBean(ManagerLifecycle.class)
                    .doesNotHaveBean(HoldfastConnectionDetails.class)
                    .doesNotHaveBean(HealthContributor.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "yes", "1", ""})
  void aSwitchThatIsNeitherTrueNorFalseFailsTheStart(String value) {
    withUrl
        .withPropertyValues("holdfast.enabled=" + value)
        .run(
            context -> {
              FailureAnalysis analysis = Failures.analyze(context);
              assertThat(analysis.getDescription())
                  .startsWith("holdfast.enabled is '" + value + "'");
              assertThat(analysis.getAction()).isEqualTo("Set it to true or false, or remove it.");
            });
  }

  @Test
  void theSwitchIsReadWithoutRegardToCase() {
    withUrl
        .withPropertyValues("holdfast.enabled=TRUE")
        .run(context -> assertThat(context).hasSingleBean(LockManager.class));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "holdfast.url= | holdfast.url is empty; set it to a URL, or remove it",
        "holdfast.managers.orders.url= | holdfast.managers.orders has neither a URL nor nodes",
      })
  void anEmptyUrlIsNamedByItsKey(String property, String message) {
    contexts
        .withPropertyValues(property)
        .run(context -> assertThat(Failures.analyze(context).getDescription()).startsWith(message));
  }

  @Test
  void aManagerOfTheApplicationTakesTheirPlace() {
    withUrl
        .withUserConfiguration(OwnManager.class)
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LockManager.class)
                    .hasBean("mine")
                    .doesNotHaveBean(ManagerLifecycle.class));
  }

  @Test
  void aLockedMethodFailsTheStartWithoutAManager() {
    contexts
        .withBean(Job.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .satisfies(
                        cause ->
                            assertThat(context.getStartupFailure())
                                .isInstanceOf(LockConfigurationException.class)
                                .hasMessageContaining("HoldfastAutoConfigurationTest$Job.run")
                                .hasMessageContaining("set holdfast.url")));
  }

  @Test
  void aLockedMethodFailsTheStartIfLocksAreSwitchedOff() {
    withUrl
        .withPropertyValues("holdfast.enabled=false")
        .withBean(Job.class)
        .run(
            context -> {
              FailureAnalysis analysis = Failures.analyze(context);
              assertThat(analysis.getDescription())
                  .contains("HoldfastAutoConfigurationTest$Job.run")
                  .contains("holdfast.enabled is false");
              assertThat(analysis.getAction())
                  .isEqualTo("Set holdfast.enabled to true, or remove the annotation.");
            });
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {"-,-,20s", "5s,-,5s", "0s,-,0s", "-,9s,6s", "40s,60s,40s"})
  void theGraceStaysBelowTheTimeoutOfAPhase(String grace, String timeout, String expected) {
    ApplicationContextRunner runner = withUrl;
    if (grace != null) {
      runner = runner.withPropertyValues("holdfast.close-grace=" + grace);
    }
    if (timeout != null) {
      runner = runner.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=" + timeout);
    }
    runner.run(
        context ->
            assertThat(context.getBean(ManagerLifecycle.class).grace())
                .isEqualTo(Duration.parse("PT" + expected)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"30s", "31s", "-1s"})
  void aGraceOutOfRangeIsRefused(String grace) {
    withUrl
        .withPropertyValues("holdfast.close-grace=" + grace)
        .run(
            context ->
                Failures.assertThatTheStartIsRefused(context)
                    .hasMessageStartingWith("holdfast.close-grace is PT"));
  }

  @Test
  void aWrongOptionIsAnalyzedWithWhatToDo() {
    withUrl
        .withPropertyValues("holdfast.options.nonsense=1")
        .run(
            context -> {
              FailureAnalysis analysis = Failures.analyze(context);
              assertThat(analysis.getCause()).isInstanceOf(LockConfigurationException.class);
              assertThat(analysis.getDescription())
                  .isEqualTo(analysis.getCause().getMessage())
                  .contains("nonsense");
              assertThat(analysis.getAction()).isNotBlank().endsWith(".");
            });
  }

  @Test
  void theActionIsTheLastPartOfTheMessage() {
    FailureAnalysis analysis =
        Failures.analyze(new LockConfigurationException("the cat is on the roof; call it down"));

    assertThat(analysis.getAction()).isEqualTo("Call it down.");
  }

  @Test
  void theManagerClosesAfterExecutorsAndIsNotPaused() {
    withUrl.run(
        context -> {
          ManagerLifecycle lifecycle = context.getBean(ManagerLifecycle.class);
          assertThat(lifecycle.getPhase()).isLessThan(ExecutorConfigurationSupport.DEFAULT_PHASE);
          assertThat(lifecycle.isPauseable()).isFalse();
          assertThat(lifecycle.isRunning()).isTrue();
        });
  }

  @Test
  void stoppingWaitsForHoldersOnAThreadOfItsOwn() {
    withUrl.run(
        context -> {
          ManagerLifecycle lifecycle = context.getBean(ManagerLifecycle.class);
          Lease lease = context.getBean(LockManager.class).acquire("a", TTL);
          CountDownLatch stopped = new CountDownLatch(1);

          lifecycle.stop(stopped::countDown);

          assertThat(lease.isHeld()).isTrue();
          assertThat(stopped.getCount()).isEqualTo(1);
          assertThat(lease.release()).isTrue();
          assertThat(stopped.await(15, TimeUnit.SECONDS)).isTrue();
          assertThat(lifecycle.isRunning()).isFalse();
        });
  }

  @Test
  void theListOfAutoConfigurationsNamesAll() {
    application
        .withBean(Job.class)
        .run(
            context -> {
              context.getBean(Job.class).run();
              assertThat(context).hasBean("holdfastHealthContributor");
            });
  }

  @Test
  void locksWorkWithoutSpringTx() {
    application
        .withBean(Job.class)
        .withClassLoader(new FilteredClassLoader("org.springframework.transaction"))
        .run(
            context -> {
              context.getBean(Job.class).run();
              assertThat(context).hasBean("holdfastHealthContributor");
            });
  }

  @Test
  void locksWorkWithoutHealth() {
    application
        .withBean(Job.class)
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
        .withPropertyValues("spring.autoconfigure.exclude=" + of("org.springframework.boot.health"))
        .run(
            context -> {
              context.getBean(Job.class).run();
              assertThat(context).doesNotHaveBean("holdfastHealthContributor");
            });
  }

  @Test
  void locksWorkWithoutActuator() {
    application
        .withBean(Job.class)
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
        .withPropertyValues(
            "spring.autoconfigure.exclude=" + of("org.springframework.boot.actuate"),
            "management.endpoints.web.exposure.include=locks")
        .run(
            context -> {
              context.getBean(Job.class).run();
              assertThat(context).doesNotHaveBean(LocksEndpoint.class);
            });
  }

  @Test
  void textOfThePropertiesShowsNoPassword() {
    HoldfastProperties properties =
        new HoldfastProperties(
            "redlock:redis://:secret@h",
            List.of(),
            Map.of("password", "secret"),
            Map.of(),
            true,
            null,
            Duration.ofSeconds(1),
            new HoldfastProperties.LockedDefaults(TTL));

    assertThat(properties.toString()).contains("enabled=true").doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "holdfast.url,java.lang.String,URL of the lock manager",
    "holdfast.nodes,java.util.List,Redis servers of the lock manager",
    "holdfast.managers,java.util.Map,More lock managers",
    "holdfast.options,java.util.Map,Options of the URL by name",
    "holdfast.enabled,java.lang.Boolean,Whether to create lock managers",
    "holdfast.close-grace,java.time.Duration,Time for holders to release",
    "holdfast.health-timeout,java.time.Duration,Longest time of a health check",
    "holdfast.locked.ttl,java.time.Duration,How long a lock may outlive",
    "holdfast.observations.enabled,java.lang.Boolean,Whether to observe requests",
    "management.health.holdfast.enabled,java.lang.Boolean,Whether to enable the health check",
    "management.endpoint.locks.access,org.springframework.boot.actuate.endpoint.Access,access"
  })
  void eachKeyHasMetadata(String key, String type, String description) throws IOException {
    try (InputStream file =
        HoldfastProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      String metadata = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      String entry = metadata.substring(metadata.indexOf("\"name\": \"" + key + "\","));
      assertThat(entry.substring(0, entry.indexOf('}'))).contains(type, description);
    }
  }

  @Test
  void theActionForAMisspelledOptionNamesTheNearest() {
    contexts
        .withPropertyValues("holdfast.url=redlock:redis://127.0.0.1:1?nodeTimout=1s")
        .run(
            context ->
                assertThat(Failures.analyze(context).getAction())
                    .startsWith("The nearest is nodeTimeout"));
  }

  @ParameterizedTest
  @CsvSource({"node-timeout, nodeTimeout", "key-prefix, keyPrefix", "maxttl, maxTtl"})
  void theActionForAnOptionInAnotherFormNamesTheOption(String key, String option) {
    contexts
        .withPropertyValues(
            "holdfast.url=redlock:redis://127.0.0.1:1", "holdfast.options." + key + "=1s")
        .run(
            context ->
                assertThat(Failures.analyze(context).getAction())
                    .startsWith("The nearest is " + option + ";"));
  }
}
