package dev.holdfast.spring;

import dev.holdfast.LockManager;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;

/** The manager for {@code holdfast.url}, or for the connection details, and its end. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "holdfast.enabled", matchIfMissing = true)
@Conditional(DefaultManagerConfiguration.OnConnection.class)
@ConditionalOnMissingBean(LockManager.class)
final class DefaultManagerConfiguration {
  @Bean(name = ManagersRegistrar.DEFAULT, destroyMethod = "close")
  @Primary
  LockManager lockManager(ManagerFactory factory) {
    return factory.openDefault();
  }

  @Bean
  ManagerLifecycle holdfastManagerLifecycle(
      LockManager lockManager, HoldfastProperties properties, Environment environment) {
    return new ManagerLifecycle(
        lockManager, CloseGrace.of(properties.closeGrace(), "holdfast.close-grace", environment));
  }

  /** Matches if there is anything to connect to. */
  static final class OnConnection extends AnyNestedCondition {
    OnConnection() {
      super(ConfigurationPhase.REGISTER_BEAN);
    }

    @ConditionalOnProperty("holdfast.url")
    static class Url {}

    @ConditionalOnBean(HoldfastConnectionDetails.class)
    static class Details {}
  }
}
