package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spring.test.LockTestHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** The property that all tests of an application can share. */
class SwitchTest {
  private static final AtomicInteger OPENED = new AtomicInteger();

  private final ApplicationContextRunner contexts =
      new ApplicationContextRunner()
          .withUserConfiguration(Application.class)
          .withBean(Warehouse.class, () -> new NoWarehouse())
          .withBean(Shop.class);

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @Configuration(proxyBeanMethods = false)
  static class OwnManagers {
    @Bean
    @Primary
    LockManager orders() {
      OPENED.incrementAndGet();
      return LockManager.open("memory:");
    }

    @Bean
    LockManager users() {
      OPENED.incrementAndGet();
      return LockManager.open("memory:");
    }
  }

  private static final class NoWarehouse implements Warehouse {
    @Override
    public void pack(long id) {}

    @Override
    public void count() {}
  }

  @Test
  void locksAreThoseOfTheApplicationWithoutTheSwitch() {
    contexts
        .withPropertyValues("holdfast.url=memory:")
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(LockTestHandle.class);
              assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order-1");
            });
  }

  @Test
  void aDisabledManagerFailsTheStartWithoutTheSwitch() {
    contexts
        .withPropertyValues("holdfast.url=memory:", "holdfast.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(LockConfigurationException.class));
  }

  @Test
  void theSwitchRunsLockedMethodsWithoutALock() {
    contexts
        .withPropertyValues(
            "holdfast.url=redlock:redis://nowhere.invalid", "holdfast.test.locking=false")
        .run(
            context -> {
              context.getBean(LockTestHandle.class).steal("order-1");
              assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("without a lock");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"off", "no", "0", "nonsense", ""})
  void aSwitchThatIsNeitherTrueNorFalseFailsTheStart(String value) {
    contexts
        .withPropertyValues("holdfast.url=memory:", "holdfast.test.locking=" + value)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessage(
                        "holdfast.test.locking is '"
                            + value
                            + "'; set it to true or false, or remove it"));
  }

  @Test
  void theSwitchIsReadWithoutRegardToCase() {
    contexts
        .withPropertyValues("holdfast.test.locking=FALSE")
        .run(
            context -> assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("without a lock"));
  }

  @Test
  void theSwitchPutsLocksIntoMemory() {
    contexts
        .withPropertyValues(
            "holdfast.url=redlock:redis://nowhere.invalid", "holdfast.test.locking=true")
        .run(context -> assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order-1"));
  }

  @Test
  void eachManagerOfTheApplicationIsReplacedUnderItsName() {
    OPENED.set(0);
    contexts
        .withUserConfiguration(OwnManagers.class)
        .withPropertyValues("holdfast.test.locking=true")
        .run(
            context -> {
              LockTestHandle handle = context.getBean(LockTestHandle.class);
              handle.manager("users").steal("order-1");
              assertThat(context.getBean(Shop.class).ship(1))
                  .as("its manager is the primary one")
                  .isEqualTo("order-1");
              handle.steal("order-1");
              assertThatThrownBy(() -> context.getBean(Shop.class).ship(1))
                  .isInstanceOf(LockContendedException.class);
              assertThat(context.getBeansOfType(LockManager.class)).hasSize(2);
              assertThat(context.getBean("users", LockManager.class).unwrap(MemoryStore.class))
                  .isPresent();
              assertThat(OPENED).hasValue(0);
              assertThatThrownBy(() -> handle.manager("absent"))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("[orders, users]");
            });
  }

  @Test
  void oneOfSeveralManagersWithoutAPrimaryOneIsChosen() {
    contexts
        .withBean("first", LockManager.class, () -> LockManager.open("memory:"))
        .withBean("second", LockManager.class, () -> LockManager.open("memory:"))
        .withPropertyValues("holdfast.test.locking=false")
        .run(
            context -> {
              LockTestHandle handle = context.getBean(LockTestHandle.class);
              handle.manager("first").steal("a");
              assertThat(handle.manager("first").isHeld("a")).isTrue();
              assertThat(handle.manager("second").isHeld("a")).isFalse();
              assertThatThrownBy(() -> handle.isHeld("a"))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("[first, second]");
            });
  }

  @Test
  void aBeanOfAnotherTypeWithTheNameOfTheManagerStays() {
    contexts
        .withBean("lockManager", String.class, () -> "of the application")
        .withAllowBeanDefinitionOverriding(true)
        .withPropertyValues("holdfast.test.locking=true")
        .run(
            context -> {
              assertThat(context.getBean("lockManager")).isEqualTo("of the application");
              assertThat(context.getBeanNamesForType(LockManager.class))
                  .containsExactly("holdfastLockManager");
              assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order-1");
            });
  }
}
