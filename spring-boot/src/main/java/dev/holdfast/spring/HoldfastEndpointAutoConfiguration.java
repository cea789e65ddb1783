package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the endpoint {@code locks}, where it is exposed. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LockManager.class)
@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
public final class HoldfastEndpointAutoConfiguration {
  /** Makes the auto-configuration, for Spring. */
  public HoldfastEndpointAutoConfiguration() {}

  @Bean
  LocksEndpoint holdfastLocksEndpoint(Map<String, LockManager> managers) {
    return new LocksEndpoint(managers);
  }

  @Bean
  @ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
  LocksEndpointWebExtension holdfastLocksEndpointWebExtension(LocksEndpoint endpoint) {
    return new LocksEndpointWebExtension(endpoint);
  }
}
