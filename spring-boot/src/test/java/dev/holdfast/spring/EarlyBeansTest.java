package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.Locks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/** Beans that are created before the processor that puts locks around their methods. */
class EarlyBeansTest {
  private final ApplicationContextRunner contexts = Contexts.inMemory();

  interface Shipping {
    String ship();
  }

  static class Shop implements Shipping {
    @Locked(name = "order")
    @Override
    public String ship() {
      return Locks.requireCurrent("order").name();
    }
  }

  /** Needs a bean and comes before the processor of locks, as method validation does. */
  record Needing(Object needed) implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  /** Comes at the same time as the processor of locks. */
  static class Ordinary implements BeanPostProcessor, Ordered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededByAProcessor {
    @Bean
    Shop shop() {
      return new Shop();
    }

    @Bean
    static Needing needing(Shop shop) {
      return new Needing(shop);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededByAConfiguration {
    NeededByAConfiguration(Shop shop) {
      assertThat(shop).isNotNull();
    }

    @Bean
    Ordinary processor() {
      return new Ordinary();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class BehindAProxy {
    @Bean
    Shipping shop() {
      return (Shipping) new ProxyFactory(new Shop()).getProxy();
    }

    @Bean
    static Needing needing(Shipping shop) {
      return new Needing(shop);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OfAFactory {
    @Bean
    static FactoryBean<Shop> shop() {
      return new FactoryBean<>() {
        @Override
        public Shop getObject() {
          return new Shop();
        }

        @Override
        public Class<?> getObjectType() {
          return Shop.class;
        }
      };
    }

    @Bean
    static Needing needing(Shop shop) {
      return new Needing(shop);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "NeededByAProcessor, true",
    "NeededByAProcessor, false",
    "BehindAProxy, true",
    "OfAFactory, true"
  })
  void aBeanThatABeanPostProcessorNeedsIsRefused(String configuration, boolean enabled)
      throws ClassNotFoundException {
    isRefused(
        contexts
            .withUserConfiguration(
                Class.forName(EarlyBeansTest.class.getName() + "$" + configuration))
            .withPropertyValues("holdfast.enabled=" + enabled));
  }

  @Test
  void aBeanThatTheConfigurationOfAProcessorNeedsIsRefused() {
    isRefused(
        contexts.withBean("shop", Shop.class).withUserConfiguration(NeededByAConfiguration.class));
  }

  private static void isRefused(ApplicationContextRunner starting) {
    starting.run(
        context -> {
          FailureAnalysis analysis = Failures.analyze(context);
          assertThat(analysis.getCause()).isInstanceOf(LockConfigurationException.class);
          assertThat(analysis.getDescription())
              .startsWith("@Locked on " + Shop.class.getName() + ".ship takes no lock")
              .contains("the bean 'shop' is needed by a BeanPostProcessor");
          assertThat(analysis.getAction())
              .startsWith("Inject an ObjectProvider there, or make the @Bean method")
              .contains("static");
        });
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededLater {
    @Bean
    static Needing needing(ObjectProvider<Shop> shop) {
      return new Needing(shop);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class InAScope {
    @Bean
    @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    Shop shop() {
      return new Shop();
    }

    @Bean
    static Needing needing(Shop shop) {
      return new Needing(shop);
    }
  }

  @Test
  void aBeanThatAProcessorTakesFromAProviderIsLocked() {
    contexts
        .withUserConfiguration(NeededLater.class)
        .withBean(Shop.class)
        .run(context -> assertThat(context.getBean(Shop.class).ship()).isEqualTo("order"));
  }

  @Test
  void aBeanBehindTheProxyOfAScopeIsLocked() {
    contexts
        .withUserConfiguration(InAScope.class)
        .run(context -> assertThat(context.getBean("shop", Shop.class).ship()).isEqualTo("order"));
  }
}
