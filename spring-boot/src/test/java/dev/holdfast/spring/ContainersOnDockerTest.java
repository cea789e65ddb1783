package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.lifecycle.TestcontainersLifecycleApplicationContextInitializer;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;

/** Containers of a Docker engine as the nodes of an application. Skipped where none answers. */
@Timeout(value = 5, unit = TimeUnit.MINUTES) // the image may be pulled
class ContainersOnDockerTest {
  private static final String IMAGE = "redis:7";
  private static final String KEY = "lock:order-4711";

  private final ApplicationContextRunner contexts =
      new ApplicationContextRunner()
          .withInitializer(new TestcontainersLifecycleApplicationContextInitializer())
          .withConfiguration(
              AutoConfigurations.of(
                  ServiceConnectionAutoConfiguration.class, HoldfastAutoConfiguration.class))
          .withBean(Shipping.class);

  @BeforeAll
  static void findDocker() {
    assumeThat(DockerClientFactory.instance().isDockerAvailable())
        .as("a Docker engine answers")
        .isTrue();
  }

  static class Shipping {
    @Locked(name = "order-#{#id}")
    public void ship(long id, Check whileHeld) throws Exception {
      whileHeld.run();
    }
  }

  interface Check {
    void run() throws Exception;
  }

  @Configuration(proxyBeanMethods = false)
  static class Cache {
    @Bean
    @ServiceConnection(name = "redis")
    GenericContainer<?> redis() {
      return new GenericContainer<>(IMAGE).withExposedPorts(6379);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ThreeLockServers {
    @Bean
    HoldfastContainers lockServers() {
      return HoldfastContainers.of(IMAGE, 3);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ThreeServiceConnections {
    @Bean
    @ServiceConnection(name = "holdfast")
    GenericContainer<?> first() {
      return new GenericContainer<>(IMAGE).withExposedPorts(6379);
    }

    @Bean
    @ServiceConnection(name = "holdfast")
    GenericContainer<?> second() {
      return new GenericContainer<>(IMAGE).withExposedPorts(6379);
    }

    @Bean
    @ServiceConnection(name = "redis")
    GenericContainer<?> third() {
      return new GenericContainer<>(IMAGE).withExposedPorts(6379);
    }
  }

  private static List<String> keysOf(GenericContainer<?> container) throws Exception {
    return container.execInContainer("redis-cli", "KEYS", KEY).getStdout().lines().toList();
  }

  @Test
  void aContainerWithAServiceConnectionHoldsTheLockOfAMethod() {
    contexts
        .withUserConfiguration(Cache.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              GenericContainer<?> redis = context.getBean(GenericContainer.class);
              Shipping shipping = context.getBean(Shipping.class);
              shipping.ship(4711, () -> assertThat(keysOf(redis)).containsExactly(KEY));
              assertThat(keysOf(redis)).containsOnly("");
            });
  }

  @Test
  void threeContainersWithAServiceConnectionHoldTheLockOfAMethod() {
    contexts
        .withUserConfiguration(ThreeServiceConnections.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              var containers = context.getBeansOfType(GenericContainer.class).values();
              context
                  .getBean(Shipping.class)
                  .ship(
                      4711,
                      () ->
                          assertThat(containers)
                              .hasSize(3)
                              .allSatisfy(each -> assertThat(keysOf(each)).containsExactly(KEY)));
            });
  }

  @Test
  void threeContainersOfOneBeanHoldTheLockOfAMethodAndTheCacheDoesNot() {
    HoldfastContainers[] seen = new HoldfastContainers[1];
    contexts
        .withUserConfiguration(ThreeLockServers.class, Cache.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              HoldfastContainers servers = context.getBean(HoldfastContainers.class);
              seen[0] = servers;
              GenericContainer<?> cache = context.getBean(GenericContainer.class);
              context
                  .getBean(Shipping.class)
                  .ship(
                      4711,
                      () -> {
                        assertThat(servers.containers())
                            .hasSize(3)
                            .allSatisfy(each -> assertThat(keysOf(each)).containsExactly(KEY));
                        assertThat(keysOf(cache)).containsOnly("");
                      });
            });
    assertThat(seen[0].containers()).noneMatch(GenericContainer::isRunning);
  }
}
