package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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
@ConditionalOnLocks
@Conditional(DefaultManagerConfiguration.OnConnection.class)
@ConditionalOnMissingBean(LockManager.class)
final class DefaultManagerConfiguration {
  private static final Logger LOG = System.getLogger(HoldfastAutoConfiguration.class.getName());

  @Bean(name = ManagersRegistrar.DEFAULT, destroyMethod = "close")
  @Primary
  @ConditionalOnMissingBean(name = ManagersRegistrar.DEFAULT)
  LockManager lockManager(ManagerFactory factory) {
    return factory.openDefault(ManagersRegistrar.DEFAULT);
  }

  /** Opens the manager under another name, because a bean of another type has the usual one. */
  @Bean(name = ManagersRegistrar.SECOND_DEFAULT, destroyMethod = "close")
  @Primary
  @ConditionalOnMissingBean(LockManager.class) // that is, if the method above made none
  LockManager holdfastLockManager(ManagerFactory factory) {
    LOG.log(
        Level.INFO,
        "the lock manager is the bean ''{0}'', because a bean of another type is named ''{1}''",
        ManagersRegistrar.SECOND_DEFAULT,
        ManagersRegistrar.DEFAULT);
    return factory.openDefault(ManagersRegistrar.SECOND_DEFAULT);
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
