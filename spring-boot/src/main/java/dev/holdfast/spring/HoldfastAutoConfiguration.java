package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of a {@link LockManager} for {@code holdfast.url}, and of {@link Locked}. A
 * manager that the application defines takes the place of this one, and is closed by its own
 * definition.
 */
@AutoConfiguration
@EnableConfigurationProperties(HoldfastProperties.class)
public final class HoldfastAutoConfiguration {
  private static final String TIMEOUT = "spring.lifecycle.timeout-per-shutdown-phase";

  /** Called by Spring. */
  public HoldfastAutoConfiguration() {}

  /** Puts locks around methods, unless the starter for tests has switched locking off. */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(type = "dev.holdfast.spring.test.LockingOff")
  static LockedBeanPostProcessor holdfastLockedBeanPostProcessor(Environment environment) {
    return new LockedBeanPostProcessor(environment);
  }

  @Bean
  OpenedManagers holdfastOpenedManagers(ObjectProvider<ManagerDecorator> decorators) {
    return new OpenedManagers(decorators);
  }

  /** The manager for {@code holdfast.url}, and its end. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty("holdfast.url")
  @ConditionalOnProperty(name = "holdfast.enabled", matchIfMissing = true)
  @ConditionalOnMissingBean(LockManager.class)
  static class ManagerConfiguration {
    /** The name of the manager's bean. */
    private static final String MANAGER = "lockManager";

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(20);

    @Bean(destroyMethod = "close")
    LockManager lockManager(HoldfastProperties properties, OpenedManagers managers) {
      String url = Objects.requireNonNull(properties.url());
      return managers.open(
          MANAGER,
          LockUrl.parse(url, Map.of()).scheme(),
          () -> LockManager.builder(url).options(properties.options()).open());
    }

    @Bean
    ManagerLifecycle holdfastManagerLifecycle(
        LockManager lockManager, HoldfastProperties properties, Environment environment) {
      Duration timeout =
          Binder.get(environment).bind(TIMEOUT, Duration.class).orElse(Duration.ofSeconds(30));
      return new ManagerLifecycle(lockManager, grace(properties.closeGrace(), timeout));
    }

    private static Duration grace(@Nullable Duration asked, Duration timeout) {
      if (asked == null) {
        Duration most = timeout.multipliedBy(2).dividedBy(3);
        return most.compareTo(DEFAULT_GRACE) < 0 ? most : DEFAULT_GRACE;
      }
      if (asked.isNegative() || asked.compareTo(timeout) >= 0) {
        throw new LockConfigurationException(
            "holdfast.close-grace is "
                + asked
                + ", but Spring waits "
                + timeout
                + " for the end of a phase; set it to less than "
                + TIMEOUT
                + ", and not below zero");
      }
      return asked;
    }
  }
}
