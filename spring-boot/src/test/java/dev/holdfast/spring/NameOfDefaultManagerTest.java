package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.Locks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;

/** The name of the manager of {@code holdfast.url}, which a bean of another type may have. */
class NameOfDefaultManagerTest {
  private final ApplicationContextRunner contexts = Contexts.inMemory();

  static class Shop {
    @Locked(name = "order-#{#id}")
    public String ship(long id) {
      return Locks.current().map(Lease::name).orElseThrow();
    }
  }

  static class ByName {
    @Locked(name = "a", manager = "lockManager")
    public void ship() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class ByMethod {
    @Bean
    Object lockManager() {
      return "of the application";
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ByAlias {
    @Bean({"doors", "lockManager"})
    Object doors() {
      return "of the application";
    }
  }

  /** A class that the application found by a scan, whose name leads to the same bean name. */
  @Component("lockManager")
  static class LockManager {
    @Override
    public String toString() {
      return "of the application";
    }
  }

  @Configuration(proxyBeanMethods = false)
  @Import(ByScan.Scanned.class)
  static class ByScan {
    @ComponentScan(
        basePackageClasses = NameOfDefaultManagerTest.class,
        useDefaultFilters = false,
        includeFilters =
            @ComponentScan.Filter(type = FilterType.ASSIGNABLE_TYPE, classes = LockManager.class))
    static class Scanned {}
  }

  private static void assertThatBothAreThere(AssertableApplicationContext context) {
    assertThat(context).hasNotFailed();
    assertThat(context.getBean("lockManager")).hasToString("of the application");
    assertThat(context.getBeanNamesForType(dev.holdfast.LockManager.class))
        .containsExactly("holdfastLockManager");
    assertThat(context.getBean(Shop.class).ship(1)).isEqualTo("order-1");
  }

  @ParameterizedTest
  @ValueSource(classes = {ByMethod.class, ByAlias.class, ByScan.class})
  void aBeanOfAnotherTypeKeepsItsNameAndTheManagerHasAnotherOne(Class<?> configuration) {
    contexts
        .withUserConfiguration(configuration)
        .withBean(Shop.class)
        .run(NameOfDefaultManagerTest::assertThatBothAreThere);
  }

  @ParameterizedTest
  @ValueSource(classes = {ByMethod.class, ByAlias.class, ByScan.class})
  void aBeanOfAnotherTypeStaysWhereBeansMayBeReplaced(Class<?> configuration) {
    contexts
        .withAllowBeanDefinitionOverriding(true)
        .withUserConfiguration(configuration)
        .withBean(Shop.class)
        .run(NameOfDefaultManagerTest::assertThatBothAreThere);
  }

  @Test
  void aBeanThatIsRegisteredWithoutAConfigurationClassKeepsItsName() {
    contexts
        .withBean("lockManager", Object.class, () -> "of the application")
        .withBean(Shop.class)
        .run(NameOfDefaultManagerTest::assertThatBothAreThere);
  }

  @Test
  void theManagerHasItsNameWhereNoOtherBeanHasIt() {
    contexts.run(
        context ->
            assertThat(context.getBeanNamesForType(dev.holdfast.LockManager.class))
                .containsExactly("lockManager"));
  }

  @Test
  void aMethodThatNamesTheOtherBeanAsItsManagerFailsTheStart() {
    contexts
        .withUserConfiguration(ByMethod.class)
        .withBean(ByName.class)
        .run(
            context -> {
              FailureAnalysis analysis = Failures.analyze(context);
              assertThat(analysis.getDescription())
                  .contains("ByName.ship needs the lock manager 'lockManager'");
              assertThat(analysis.getAction())
                  .contains("name it in the annotation's attribute manager");
            });
  }
}
