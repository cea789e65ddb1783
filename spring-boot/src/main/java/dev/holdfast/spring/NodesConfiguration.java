package dev.holdfast.spring;

import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** The connection details of {@code holdfast.nodes}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnLocks
@Conditional(NodesConfiguration.OnNodes.class)
@ConditionalOnMissingBean(HoldfastConnectionDetails.class)
final class NodesConfiguration {
  @Bean
  HoldfastConnectionDetails holdfastConnectionDetails(
      HoldfastProperties properties, ObjectProvider<SslBundles> bundles) {
    return new PropertiesDetails(
        ManagerFactory.nodes("holdfast", properties.nodes(), bundles.getIfAvailable()));
  }

  private record PropertiesDetails(List<HoldfastNode> getNodes)
      implements HoldfastConnectionDetails {}

  /** Returns whether there is a key below this one. */
  static boolean hasKeysBelow(Environment environment, String key) {
    ConfigurationPropertyName name = ConfigurationPropertyName.of(key);
    for (var source : ConfigurationPropertySources.get(environment)) {
      if (source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
        return true;
      }
    }
    return false;
  }

  /** Matches if {@code holdfast.nodes} has an element. */
  static final class OnNodes extends SpringBootCondition {
    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      boolean isSet = hasKeysBelow(context.getEnvironment(), "holdfast.nodes");
      return new ConditionOutcome(
          isSet,
          ConditionMessage.forCondition("holdfast.nodes").because(isSet ? "set" : "not set"));
    }
  }
}
