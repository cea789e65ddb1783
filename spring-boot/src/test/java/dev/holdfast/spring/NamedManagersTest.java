package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** {@code holdfast.managers}. */
class NamedManagersTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private final ApplicationContextRunner contexts =
      Contexts.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class);
  private final ApplicationContextRunner withTwo =
      contexts.withPropertyValues(
          "holdfast.managers.orders.url=memory:",
          "holdfast.managers.orders.options.keyPrefix=o:",
          "holdfast.managers.reports-eu.url=memory:");
  private final ApplicationContextRunner withThree =
      withTwo.withPropertyValues("holdfast.url=memory:");

  public static class Orders {
    @Locked(name = "order", manager = "orders")
    public String manager(LockManager manager) {
      return Locks.requireCurrent(manager, "order").name();
    }
  }

  @Test
  void eachManagerIsABeanByItsNameAndTheDefaultIsPrimary() {
    withThree.run(
        context -> {
          Map<String, LockManager> managers = context.getBeansOfType(LockManager.class);
          assertThat(managers.keySet())
              .containsExactlyInAnyOrder("lockManager", "orders", "reports-eu");
          assertThat(managers.values()).doesNotHaveDuplicates();
          assertThat(context.getBean(LockManager.class)).isSameAs(managers.get("lockManager"));
        });
  }

  @Test
  void aManagerThatWasProcessedAheadOfTimeAndHasNoPropertiesIsNamedByItsKey() {
    contexts.run(
        context ->
            assertThatThrownBy(() -> context.getBean(ManagerFactory.class).openNamed("orders"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageStartingWith("holdfast.managers.orders has neither a URL nor nodes"));
  }

  @Test
  void eachManagerHasItsOwnOptions() {
    withTwo.run(
        context -> {
          LockManager orders = context.getBean("orders", LockManager.class);
          assertThat(orders.tryAcquire("a", TTL)).isPresent();
          assertThat(orders.unwrap(MemoryStore.class).orElseThrow().holder("o:a")).isPresent();
        });
  }

  @Test
  void lockedFindsAManagerByItsName() {
    withThree
        .withBean(Orders.class)
        .run(
            context -> {
              Orders bean = context.getBean(Orders.class);
              assertThat(bean.manager(context.getBean("orders", LockManager.class)))
                  .isEqualTo("order");
              LockManager other = context.getBean(LockManager.class);
              assertThatThrownBy(() -> bean.manager(other))
                  .isInstanceOf(IllegalStateException.class);
            });
  }

  @Test
  void lockedNeedsAChoiceAmongSeveralManagersWithoutADefault() {
    withTwo
        .withBean(HoldfastAutoConfigurationTest.Job.class)
        .run(
            context ->
                assertThat(Failures.analyze(context).getDescription())
                    .contains("HoldfastAutoConfigurationTest$Job.run")
                    .contains("reports-eu")
                    .contains("name it in the annotation's attribute manager"));
  }

  @Test
  void oneManagerByNameIsTheOnlyOne() {
    contexts
        .withPropertyValues("holdfast.managers.orders.url=memory:")
        .withBean(HoldfastAutoConfigurationTest.Job.class)
        .run(
            context -> {
              assertThat(context).hasSingleBean(LockManager.class).hasBean("orders");
              context.getBean(HoldfastAutoConfigurationTest.Job.class).run();
            });
  }

  @Test
  void healthShowsEachManager() {
    withThree.run(
        context ->
            assertThat(context.getBean(CompositeHealthContributor.class).stream())
                .extracting(HealthContributors.Entry::name)
                .containsExactlyInAnyOrder("lockManager", "orders", "reports-eu"));
  }

  @Test
  void eachManagerClosesWithItsOwnGrace() {
    LockManager[] opened = new LockManager[1];
    withTwo
        .withPropertyValues("holdfast.close-grace=3s", "holdfast.managers.orders.close-grace=2s")
        .run(
            context -> {
              opened[0] = context.getBean("orders", LockManager.class);
              assertThat(context.getBean("ordersHoldfastLifecycle", ManagerLifecycle.class).grace())
                  .isEqualTo(Duration.ofSeconds(2));
              assertThat(
                      context
                          .getBean("reports-euHoldfastLifecycle", ManagerLifecycle.class)
                          .grace())
                  .isEqualTo(Duration.ofSeconds(3));
            });
    assertThatThrownBy(() -> opened[0].tryAcquire("a", TTL))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "orders.url=memory: orders.nodes[0].host=h1 | holdfast.managers.orders.url and"
            + " holdfast.managers.orders.nodes are both set",
        "orders.options.keyPrefix=o: | holdfast.managers.orders has neither a URL nor nodes",
        "orders.url=memory: orders.close-grace=40s | holdfast.managers.orders.close-grace is PT40S",
        "orders.nodes[0].port=1 | holdfast.managers.orders.nodes[0].host is missing",
        "holdfastManagerFactory.url=memory: | holdfast.managers.holdfastManagerFactory has the name"
            + " of another bean",
      })
  void aWrongManagerIsNamedByItsKey(String keys, String message) {
    contexts
        .withPropertyValues(Contexts.properties("holdfast.managers.", keys))
        .run(context -> assertThat(Failures.analyze(context).getDescription()).contains(message));
  }

  @Test
  void managersByNameStandBesideOneOfTheApplication() {
    withThree
        .withUserConfiguration(HoldfastAutoConfigurationTest.OwnManager.class)
        .run(
            context ->
                assertThat(context.getBeansOfType(LockManager.class).keySet())
                    .containsExactlyInAnyOrder("mine", "orders", "reports-eu"));
  }

  @Test
  void noneIsOpenedIfLocksAreSwitchedOff() {
    withThree
        .withPropertyValues("holdfast.enabled=false")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockManager.class));
  }

  @Test
  void aManagerWhoseDecoratorFailsIsClosed() {
    AtomicReference<LockManager> opened = new AtomicReference<>();
    ManagerDecorator failing =
        (name, manager) -> {
          opened.set(manager);
          throw new IllegalStateException("no decoration");
        };
    contexts
        .withPropertyValues("holdfast.url=memory:")
        .withBean(ManagerDecorator.class, () -> failing)
        .run(context -> assertThat(context).hasFailed());

    LockManager manager = Objects.requireNonNull(opened.get());
    assertThatThrownBy(() -> manager.tryAcquire("order-1", Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class);
  }
}
