package dev.holdfast.spring;

import dev.holdfast.LockManager;
import dev.holdfast.micrometer.HoldfastMetrics;
import dev.holdfast.micrometer.HoldfastObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the metrics of each {@link LockManager}, and of observations of the
 * managers that {@link HoldfastAutoConfiguration} opens.
 */
@AutoConfiguration(
    after = HoldfastAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
@ConditionalOnClass({HoldfastMetrics.class, MeterRegistry.class})
@ConditionalOnBean(LockManager.class)
public final class HoldfastMicrometerAutoConfiguration {
  /** Makes the auto-configuration, for Spring. */
  public HoldfastMicrometerAutoConfiguration() {}

  /** The metrics, unless the application defines its own. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(MeterRegistry.class)
  @ConditionalOnMissingBean(HoldfastMetrics.class)
  static class MetricsConfiguration {
    @Bean(destroyMethod = "close")
    ManagerMetrics holdfastManagerMetrics(
        Map<String, LockManager> managers, ObjectProvider<MeterRegistry> registries) {
      return new ManagerMetrics(managers, registries);
    }
  }

  /** The decorator that observes. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(ObservationRegistry.class)
  @ConditionalOnBooleanProperty(name = "holdfast.observations.enabled", matchIfMissing = true)
  static class ObservationsConfiguration {
    @Bean
    ManagerDecorator holdfastObservations(ObservationRegistry registry) {
      return (name, manager) -> HoldfastObservations.observed(manager, name, registry);
    }
  }
}
