package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The server of {@code spring.data.redis}, if nothing says where else locks are kept. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnLocks
@ConditionalOnClass(DataRedisConnectionDetails.class)
@ConditionalOnBean(DataRedisConnectionDetails.class)
@ConditionalOnMissingBean({LockManager.class, HoldfastConnectionDetails.class})
@Conditional(DataRedisConfiguration.OnNothingElse.class)
final class DataRedisConfiguration {
  private static final String BOOT = "org.springframework.boot.data.redis.autoconfigure.";

  @Bean
  HoldfastConnectionDetails holdfastConnectionDetails(
      DataRedisConnectionDetails redis,
      ConfigurableListableBeanFactory beans,
      Environment environment) {
    requireStandalone(redis);
    if (!isNamed(beans, environment)) {
      requireClientOfBoot(beans);
    }
    DataRedisConnectionDetails.Standalone server = redis.getStandalone();
    if (server == null) {
      throw new LockConfigurationException(
          "spring.data.redis names no server; set holdfast.url or holdfast.nodes");
    }
    HoldfastNode node =
        HoldfastNode.of(server.getHost(), server.getPort())
            .login(redis.getUsername(), redis.getPassword())
            .database(server.getDatabase());
    SslBundle bundle = redis.getSslBundle();
    boolean isTls = bundle != null || isTls(environment, server.getHost());
    return new SharedRedis(isTls ? node.tls(bundle) : node);
  }

  private static void requireStandalone(DataRedisConnectionDetails redis) {
    String several =
        redis.getSentinel() != null
            ? "Sentinel"
            : redis.getCluster() != null
                ? "Cluster"
                : redis.getMasterReplica() != null ? "replicas" : "";
    if (!several.isEmpty()) {
      throw new LockConfigurationException(
          "spring.data.redis is set up with "
              + several
              + ", where another server can take over without the locks; set holdfast.url or"
              + " holdfast.nodes to independent servers, or holdfast.enabled to false");
    }
  }

  /** Returns whether a key or a service connection names the server, and not a default of Boot. */
  private static boolean isNamed(ConfigurableListableBeanFactory beans, Environment environment) {
    return Stream.of("url", "host", "port")
            .anyMatch(key -> environment.containsProperty("spring.data.redis." + key))
        || ofTheApplication(beans, DataRedisConnectionDetails.class).isPresent();
  }

  /**
   * Refuses a client that the application connects by itself: its server is not known here, and the
   * default of Boot would be another one.
   */
  private static void requireClientOfBoot(ConfigurableListableBeanFactory beans) {
    ofTheApplication(beans, RedisConnectionFactory.class)
        .ifPresent(
            name -> {
              throw new LockConfigurationException(
                  "the bean '"
                      + name
                      + "' connects to a Redis of its own, and nothing names a server for locks;"
                      + " set holdfast.url or holdfast.nodes, or spring.data.redis.host, or"
                      + " holdfast.enabled to false");
            });
  }

  private static Optional<String> ofTheApplication(
      ConfigurableListableBeanFactory beans, Class<?> type) {
    return Stream.of(beans.getBeanNamesForType(type, true, false))
        .filter(name -> !isOfBoot(beans, name))
        .findFirst();
  }

  private static boolean isOfBoot(ConfigurableListableBeanFactory beans, String name) {
    String configuration =
        beans.containsBeanDefinition(name)
            ? beans.getBeanDefinition(name).getFactoryBeanName()
            : null;
    return configuration != null && configuration.startsWith(BOOT);
  }

  /** Returns whether Boot uses TLS because of the scheme of the URL, which has no bundle. */
  private static boolean isTls(Environment environment, String host) {
    String url = environment.getProperty("spring.data.redis.url", "");
    return url.toLowerCase(Locale.ROOT).startsWith("rediss:") && host.equals(hostOf(url));
  }

  private static @Nullable String hostOf(String url) {
    try {
      return URI.create(url).getHost();
    } catch (IllegalArgumentException e) {
      return null; // Boot's error says more
    }
  }

  /** Matches if neither a URL nor managers are set. Nodes would be connection details. */
  static final class OnNothingElse extends SpringBootCondition {
    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      Environment environment = context.getEnvironment();
      boolean isSet =
          environment.containsProperty("holdfast.url")
              || NodesConfiguration.hasKeysBelow(environment, ManagersRegistrar.KEY);
      return new ConditionOutcome(
          !isSet,
          ConditionMessage.forCondition("spring.data.redis for locks")
              .because(isSet ? "holdfast says where locks are kept" : "nothing else is set"));
    }
  }
}
