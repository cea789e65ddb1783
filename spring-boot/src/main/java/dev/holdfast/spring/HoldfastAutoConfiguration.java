package dev.holdfast.spring;

import dev.holdfast.LockManager;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of a {@link LockManager} for {@code holdfast.url}, {@code holdfast.nodes},
 * {@link HoldfastConnectionDetails} or {@code spring.data.redis}, of the managers of {@code
 * holdfast.managers}, and of {@link Locked}. A manager that the application defines takes the place
 * of the first, and is closed by its own definition.
 */
@AutoConfiguration(
    afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@EnableConfigurationProperties(HoldfastProperties.class)
@Import({
  CommitCheckConfiguration.class,
  NodesConfiguration.class,
  DataRedisConfiguration.class,
  DefaultManagerConfiguration.class,
  ManagersRegistrar.class
})
public final class HoldfastAutoConfiguration {
  /** Makes the auto-configuration, for Spring. */
  public HoldfastAutoConfiguration() {}

  /** Puts locks around methods, unless the starter for tests has switched locking off. */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(type = "dev.holdfast.spring.test.LockingOff")
  static LockedBeanPostProcessor holdfastLockedBeanPostProcessor(
      ConfigurableListableBeanFactory beans, Environment environment) {
    return new LockedBeanPostProcessor(beans, environment);
  }

  /** Refuses beans that are created before locks can be put around their methods. */
  @Bean
  @ConditionalOnMissingBean(type = "dev.holdfast.spring.test.LockingOff")
  static EarlyBeans holdfastEarlyBeans() {
    return new EarlyBeans();
  }

  @Bean
  @ConditionalOnLocks
  ExecutorsLifecycle holdfastExecutorsLifecycle(
      ConfigurableListableBeanFactory beans, ApplicationContext context) {
    return new ExecutorsLifecycle(beans, context);
  }

  @Bean(ManagersRegistrar.FACTORY)
  ManagerFactory holdfastManagerFactory(
      HoldfastProperties properties,
      ObjectProvider<HoldfastConnectionDetails> details,
      ObjectProvider<SslBundles> bundles,
      ObjectProvider<ManagerDecorator> decorators,
      Environment environment) {
    return new ManagerFactory(properties, details, bundles, decorators, environment);
  }
}
