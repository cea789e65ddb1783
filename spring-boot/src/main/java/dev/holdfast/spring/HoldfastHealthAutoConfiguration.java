package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the health of each {@link LockManager}. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({HealthContributor.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(LockManager.class)
@ConditionalOnEnabledHealthIndicator("holdfast")
@EnableConfigurationProperties(HoldfastProperties.class)
public final class HoldfastHealthAutoConfiguration {
  /** Makes the auto-configuration, for Spring. */
  public HoldfastHealthAutoConfiguration() {}

  /** Shows one manager as itself, and several by the names of their beans. */
  @Bean
  @ConditionalOnMissingBean(name = {"holdfastHealthContributor", "holdfastHealthIndicator"})
  HealthContributor holdfastHealthContributor(
      Map<String, LockManager> managers, HoldfastProperties properties) {
    if (managers.size() == 1) {
      return new ManagerHealthIndicator(
          managers.values().iterator().next(), properties.healthTimeout());
    }
    return CompositeHealthContributor.fromMap(
        managers, manager -> new ManagerHealthIndicator(manager, properties.healthTimeout()));
  }
}
