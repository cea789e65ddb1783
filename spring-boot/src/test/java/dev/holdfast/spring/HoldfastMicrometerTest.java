package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.micrometer.HoldfastMetrics;
import dev.holdfast.testsupport.Fakes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

class HoldfastMicrometerTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final TestObservationRegistry observations = TestObservationRegistry.create();
  private final ApplicationContextRunner contexts =
      Contexts.of(
              HoldfastAutoConfiguration.class,
              HoldfastMicrometerAutoConfiguration.class,
              MetricsAutoConfiguration.class,
              CompositeMeterRegistryAutoConfiguration.class)
          .withPropertyValues("holdfast.url=memory:");
  private final ApplicationContextRunner withRegistry =
      contexts.withBean("registry", MeterRegistry.class, () -> registry);

  static class Job {
    @Locked(name = "job")
    public boolean isObserved() {
      return Locks.requireCurrent("job").isHeld();
    }
  }

  private static Timer granted(MeterRegistry registry, String manager, String backend) {
    return registry
        .get("holdfast.acquire")
        .tags("manager", manager, "backend", backend, "outcome", "granted")
        .timer();
  }

  private static void acquire(LockManager locks) throws InterruptedException {
    assertThat(locks.acquire("a", TTL).release()).isTrue();
  }

  @Test
  void theManagerHasMetricsByTheNameOfItsBeanUntilTheContextCloses() {
    withRegistry.run(
        context -> {
          acquire(context.getBean(LockManager.class));
          assertThat(granted(registry, "lockManager", "memory").count()).isEqualTo(1);
        });

    assertThat(registry.getMeters())
        .noneMatch(meter -> meter.getId().getName().startsWith("holdfast"));
  }

  @Test
  void eachManagerOfTheApplicationHasMetrics() {
    withRegistry
        .withUserConfiguration(OrdersAndUsers.class)
        .run(
            context -> {
              acquire(context.getBean("orders", LockManager.class));
              assertThat(granted(registry, "orders", "memory").count()).isEqualTo(1);
              assertThat(granted(registry, "users", "memory").count()).isZero();
            });
  }

  private void assertThatEachRecordsOnce(ApplicationContext context, MeterRegistry other)
      throws InterruptedException {
    acquire(context.getBean(LockManager.class));
    assertThat(granted(registry, "lockManager", "memory").count()).isEqualTo(1);
    assertThat(granted(other, "lockManager", "memory").count()).isEqualTo(1);
  }

  @Test
  void eachOfSeveralRegistriesRecordsOnce() {
    MeterRegistry other = new SimpleMeterRegistry();
    withRegistry
        .withBean("other", MeterRegistry.class, () -> other)
        .run(context -> assertThatEachRecordsOnce(context, other));
  }

  @Test
  void eachOfSeveralRegistriesRecordsWithoutTheModuleOfBootForMetrics() {
    MeterRegistry other = new SimpleMeterRegistry();
    Contexts.of(HoldfastAutoConfiguration.class, HoldfastMicrometerAutoConfiguration.class)
        .withPropertyValues("holdfast.url=memory:")
        .withBean("registry", MeterRegistry.class, () -> registry)
        .withBean("other", MeterRegistry.class, () -> other)
        .run(context -> assertThatEachRecordsOnce(context, other));
  }

  @Test
  void metricsAreBoundAlsoIfBeansAreLazy() {
    withRegistry
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .run(context -> assertThat(granted(registry, "lockManager", "memory").count()).isZero());
  }

  @Test
  void metricsOfTheApplicationTakeTheirPlace() {
    withRegistry
        .withBean(
            HoldfastMetrics.class,
            () -> new HoldfastMetrics(LockManager.open("memory:"), "mine", Tags.empty()))
        .run(
            context -> {
              assertThat(context).hasNotFailed().doesNotHaveBean(ManagerMetrics.class);
              assertThat(granted(registry, "mine", "memory").count())
                  .as("the module of Boot for metrics binds it")
                  .isZero();
              assertThat(registry.find("holdfast.leases").tag("manager", "lockManager").gauge())
                  .isNull();
            });
  }

  @Test
  void aPropertyOfBootSwitchesTheMetricsOff() {
    withRegistry
        .withPropertyValues("management.metrics.enable.holdfast=false")
        .run(context -> assertThat(registry.getMeters()).isEmpty());
  }

  @Test
  void aManagerThatHasNoMetricsDoesNotFailTheStart() {
    withRegistry
        .withBean("hidden", LockManager.class, () -> hiding(LockManager.open("memory:")))
        .withBean("shown", LockManager.class, () -> LockManager.open("memory:"))
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(granted(registry, "shown", "memory").count()).isZero();
              assertThat(registry.find("holdfast.leases").tag("manager", "hidden").gauge())
                  .isNull();
            });
  }

  /** A fake decorator that hides the manager below, and so has no listeners. */
  private static LockManager hiding(LockManager manager) {
    return Fakes.of(
        LockManager.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("unwrap")) {
            return Optional.empty();
          }
          try {
            return method.isDefault()
                ? InvocationHandler.invokeDefault(proxy, method, arguments)
                : method.invoke(manager, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  @Test
  void thereAreNoMetricsWithoutARegistry() {
    Contexts.of(HoldfastAutoConfiguration.class, HoldfastMicrometerAutoConfiguration.class)
        .withPropertyValues("holdfast.url=memory:")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ManagerMetrics.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"dev.holdfast.micrometer", "io.micrometer.core"})
  void locksWorkWithoutTheClassesOfMetrics(String absent) {
    Contexts.of(HoldfastAutoConfiguration.class, HoldfastMicrometerAutoConfiguration.class)
        .withPropertyValues("holdfast.url=memory:")
        .withClassLoader(new FilteredClassLoader(absent))
        .run(
            context -> {
              assertThat(context).hasNotFailed().doesNotHaveBean(ManagerDecorator.class);
              acquire(context.getBean(LockManager.class));
            });
  }

  @Test
  void requestsAndHoldsOfTheManagerAreObserved() {
    contexts
        .withBean(TestObservationRegistry.class, () -> observations)
        .withBean(Job.class)
        .run(
            context -> {
              assertThat(context.getBean(Job.class).isObserved()).isTrue();
              TestObservationRegistryAssert.assertThat(observations)
                  .hasObservationWithNameEqualTo("holdfast.lock.acquire")
                  .that()
                  .hasLowCardinalityKeyValue("manager", "lockManager")
                  .hasHighCardinalityKeyValue("lock", "job");
              TestObservationRegistryAssert.assertThat(observations)
                  .hasObservationWithNameEqualTo("holdfast.lock.hold");
            });
  }

  @Test
  void theObservedManagerShowsTheOneBelow() {
    withRegistry
        .withBean(TestObservationRegistry.class, () -> observations)
        .run(
            context -> {
              LockManager locks = context.getBean(LockManager.class);
              assertThat(locks.unwrap(MemoryStore.class)).isPresent();
              assertThat(locks.unwrap(LockManager.class)).isPresent().get().isNotSameAs(locks);
              acquire(locks);
              assertThat(granted(registry, "lockManager", "memory").count()).isEqualTo(1);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "off", "no", "0"})
  void observationsCanBeSwitchedOff(String value) {
    contexts
        .withBean(TestObservationRegistry.class, () -> observations)
        .withPropertyValues("holdfast.observations.enabled=" + value)
        .run(
            context -> {
              acquire(context.getBean(LockManager.class));
              TestObservationRegistryAssert.assertThat(observations).doesNotHaveAnyObservation();
            });
  }

  @Test
  void aManagerOfTheApplicationStaysAsItIs() {
    LockManager mine = LockManager.open("memory:");
    contexts
        .withBean(TestObservationRegistry.class, () -> observations)
        .withBean("mine", LockManager.class, () -> mine)
        .run(
            context -> {
              assertThat(context.getBean(LockManager.class)).isSameAs(mine);
              acquire(mine);
              TestObservationRegistryAssert.assertThat(observations).doesNotHaveAnyObservation();
            });
  }
}
