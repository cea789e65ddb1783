package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.Locks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;

/** Beans that are created after the start, whose methods are checked at the start. */
class LaterBeansTest {
  private final ApplicationContextRunner contexts =
      Contexts.inMemory()
          .withInitializer(
              context -> context.getBeanFactory().registerScope("thread", new SimpleThreadScope()));

  static class Wrong {
    @Locked(name = "order-#{#number}")
    public void ship(long id) {}
  }

  @Lazy
  static class OfAnAbsentManager {
    @Locked(name = "order", manager = "absent")
    public void ship(long id) {}
  }

  @Lazy
  static class Right {
    Right() {
      throw new AssertionError("a bean that is not needed yet was created");
    }

    @Locked(name = "order")
    public void ship(long id) {}
  }

  @Configuration(proxyBeanMethods = false)
  static class OfWrong {
    @Lazy
    @Configuration(proxyBeanMethods = false)
    static class InALazyBean {
      @Bean
      Wrong wrong() {
        return new Wrong();
      }
    }

    @Configuration(proxyBeanMethods = false)
    static class InAPrototype {
      @Bean
      @Scope("prototype")
      Wrong wrong() {
        return new Wrong();
      }
    }

    @Configuration(proxyBeanMethods = false)
    static class InAScope {
      @Bean
      @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
      Wrong wrong() {
        return new Wrong();
      }
    }

    @Configuration(proxyBeanMethods = false)
    static class InAFactory {
      @Bean
      @Lazy
      FactoryBean<Wrong> wrong() {
        throw new AssertionError("created to know its type");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        OfWrong.InALazyBean.class,
        OfWrong.InAPrototype.class,
        OfWrong.InAScope.class,
        OfWrong.InAFactory.class
      })
  void aWrongMethodOfABeanThatIsCreatedLaterFailsTheStart(Class<?> configuration) {
    isRefused(contexts.withUserConfiguration(configuration), Wrong.class, "uses #number");
  }

  @Test
  void aManagerThatABeanNeedsLaterIsMissedAtTheStart() {
    isRefused(
        contexts.withUserConfiguration(OfAnAbsentManager.class),
        OfAnAbsentManager.class,
        "needs the lock manager 'absent'");
  }

  @Test
  void aLazyBeanFailsTheStartIfLocksAreSwitchedOff() {
    isRefused(
        contexts.withPropertyValues("holdfast.enabled=false").withUserConfiguration(Right.class),
        Right.class,
        "holdfast.enabled is false");
  }

  private static void isRefused(ApplicationContextRunner starting, Class<?> type, String message) {
    starting.run(
        context ->
            assertThat(Failures.analyze(context).getCause())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(type.getName() + ".ship")
                .hasMessageContaining(message));
  }

  @Test
  void theCheckCreatesNoBean() {
    contexts.withUserConfiguration(Right.class).run(context -> assertThat(context).hasNotFailed());
  }

  interface Shipping {
    @Locked(name = "order-#{#id}")
    String ship(String number);
  }

  static class Shop implements Shipping {
    @Override
    public String ship(String id) {
      return Locks.requireCurrent("order-" + id).name();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ByAnInterface {
    @Bean
    @Lazy
    Shipping shop() {
      return new Shop();
    }
  }

  @Test
  void anInterfaceSaysTooLittleAndIsNotJudged() {
    contexts
        .withUserConfiguration(ByAnInterface.class)
        .run(context -> assertThat(context.getBean(Shipping.class).ship("7")).isEqualTo("order-7"));
  }

  @Test
  void anAbstractDefinitionIsNotJudged() {
    contexts
        .withInitializer(
            context -> {
              RootBeanDefinition parent = new RootBeanDefinition(Wrong.class);
              parent.setAbstract(true);
              ((GenericApplicationContext) context).registerBeanDefinition("parent", parent);
            })
        .run(context -> assertThat(context).hasNotFailed());
  }
}
