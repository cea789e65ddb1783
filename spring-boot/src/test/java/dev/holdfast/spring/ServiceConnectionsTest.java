package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.lifecycle.TestcontainersLifecycleApplicationContextInitializer;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/**
 * Connection details from several sources. Containers and docker compose are fakes, which need no
 * Docker engine, over real servers.
 */
class ServiceConnectionsTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @AutoClose private static final TestNodes SERVERS = TestNodes.start(3);

  private final ApplicationContextRunner contexts =
      Contexts.of(ServiceConnectionAutoConfiguration.class, HoldfastAutoConfiguration.class);

  @BeforeEach
  void empty() {
    SERVERS.all().forEach(node -> node.command("FLUSHALL"));
  }

  private static HoldfastNode node(int index) {
    return HoldfastNode.of(SERVERS.node(index).host(), SERVERS.node(index).port());
  }

  /**
   * Proves that the manager keeps the lock of a key on some servers, and on no other. A quorum
   * grants it before the last server has answered.
   */
  private static void assertThatLocksAreOn(
      AssertableApplicationContext context, String key, int... indexes) {
    assertThat(context).hasNotFailed();
    try (Lease lease = context.getBean(LockManager.class).tryAcquire("a", TTL).orElseThrow()) {
      assertThat(lease.isHeld()).isTrue();
      Set<Integer> ours = Arrays.stream(indexes).boxed().collect(Collectors.toSet());
      Eventually.soon().untilAsserted(() -> assertThat(serversOf(key)).isEqualTo(ours));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Set<Integer> serversOf(String key) {
    return SERVERS.all().stream()
        .filter(node -> Long.valueOf(1).equals(node.command("EXISTS", key)))
        .map(TestNode::index)
        .collect(Collectors.toSet());
  }

  private static void assertThatNodesAreAllServersInTheirOrder(ApplicationContext context) {
    assertThat(context.getBean(LockManager.class).nodes())
        .extracting(node -> node.address())
        .isEqualTo(SERVERS.all().stream().map(TestNode::address).toList());
  }

  private static void assertThatNewNodesAreNotTrusted(ApplicationContext context) {
    assertThat(Failures.catching(() -> context.getBean(LockManager.class).tryAcquire("a", TTL)))
        .hasMessageContaining("new");
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoDetails {
    @Bean
    @Order(2)
    HoldfastConnectionDetails last() {
      return () -> List.of(node(2));
    }

    @Bean
    @Order(1)
    HoldfastConnectionDetails first() {
      return () -> List.of(node(0), node(1));
    }
  }

  @Test
  void severalDetailsAreJoinedInTheirOrder() {
    contexts
        .withUserConfiguration(TwoDetails.class)
        .withPropertyValues("holdfast.options.newNodes=trust")
        .run(
            context -> {
              assertThatLocksAreOn(context, "a", 0, 1, 2);
              assertThatNodesAreAllServersInTheirOrder(context);
            });
  }

  @Test
  void newNodesThatAreNotEphemeralAreNotTrusted() {
    contexts
        .withUserConfiguration(TwoDetails.class)
        .run(ServiceConnectionsTest::assertThatNewNodesAreNotTrusted);
  }

  @Test
  void detailsTakeThePlaceOfTheNodesInAUrlAndKeepItsOptions() {
    contexts
        .withUserConfiguration(TwoDetails.class)
        .withPropertyValues(
            "holdfast.url=redlock:lettuce:redis://:s3cret@h1,redis://h2?newNodes=trust&keyPrefix=k:")
        .run(
            context -> {
              try (Lease lease =
                  context.getBean(LockManager.class).tryAcquire("a", TTL).orElseThrow()) {
                Eventually.soon() // a quorum grants before the last server has answered
                    .untilAsserted(
                        () ->
                            assertThat(SERVERS.node(2).command("GET", "k:a"))
                                .isEqualTo(lease.token()));
              }
            });
  }

  @Test
  void aUrlWithoutNodesStays() {
    contexts
        .withUserConfiguration(TwoDetails.class)
        .withPropertyValues("holdfast.url=memory:")
        .run(
            context ->
                assertThat(context.getBean(LockManager.class).unwrap(MemoryStore.class))
                    .isPresent());
  }

  @Test
  void detailsTakeThePlaceOfNodesInProperties() {
    contexts
        .withUserConfiguration(TwoDetails.class)
        .withPropertyValues("holdfast.nodes[0].host=h1", "holdfast.options.newNodes=trust")
        .run(context -> assertThatLocksAreOn(context, "a", 0, 1, 2));
  }

  @Configuration(proxyBeanMethods = false)
  static class OneContainer {
    @Bean
    @ServiceConnection(name = "redis")
    FakeRedisContainer redis() {
      return new FakeRedisContainer(SERVERS.node(1));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OneValkey {
    @Bean
    @ServiceConnection(name = "valkey/valkey")
    FakeRedisContainer valkey() {
      return new FakeRedisContainer(SERVERS.node(1));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OneLockServer {
    @Bean
    @ServiceConnection(name = "holdfast")
    FakeRedisContainer locks() {
      return new FakeRedisContainer(SERVERS.node(1));
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {OneContainer.class, OneValkey.class, OneLockServer.class})
  void aContainerWithAServiceConnectionIsTheOnlyNode(Class<?> configuration) {
    contexts
        .withUserConfiguration(configuration)
        .run(context -> assertThatLocksAreOn(context, "lock:a", 1));
  }

  @Configuration(proxyBeanMethods = false)
  static class ThreeServiceConnections {
    @Bean
    @ServiceConnection(name = "redis")
    FakeRedisContainer first() {
      return new FakeRedisContainer(SERVERS.node(0));
    }

    @Bean
    @ServiceConnection(name = "holdfast")
    FakeRedisContainer second() {
      return new FakeRedisContainer(SERVERS.node(1));
    }

    @Bean
    @ServiceConnection(name = "valkey/valkey")
    FakeRedisContainer third() {
      return new FakeRedisContainer(SERVERS.node(2));
    }
  }

  @Test
  void severalContainersWithAServiceConnectionAreNodesInTheirOrder() {
    contexts
        .withUserConfiguration(ThreeServiceConnections.class)
        .run(
            context -> {
              assertThat(context).hasSingleBean(HoldfastConnectionDetails.class);
              assertThatLocksAreOn(context, "lock:a", 0, 1, 2);
              assertThatNodesAreAllServersInTheirOrder(context);
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class OneContainerTwice {
    @Bean
    @ServiceConnection(name = "redis")
    FakeRedisContainer redis() {
      return new FakeRedisContainer(SERVERS.node(1));
    }

    @Bean
    @ServiceConnection(name = "holdfast")
    FakeRedisContainer again(FakeRedisContainer redis) {
      return redis;
    }
  }

  @Test
  void aContainerWithTwoServiceConnectionsIsOneNode() {
    contexts
        .withUserConfiguration(OneContainerTwice.class)
        .run(
            context -> {
              assertThatLocksAreOn(context, "lock:a", 1);
              assertThat(context.getBean(LockManager.class).nodes()).hasSize(1);
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class ThreeContainers {
    @Bean
    HoldfastContainers lockServers() {
      return HoldfastContainers.of(
          SERVERS.all().stream().map(FakeRedisContainer::new).toArray(FakeRedisContainer[]::new));
    }
  }

  @Test
  void severalContainersInOneBeanAreNodesThatVoteAtOnce() {
    contexts
        .withUserConfiguration(ThreeContainers.class, OneContainer.class)
        .withInitializer(new TestcontainersLifecycleApplicationContextInitializer())
        .run(
            context -> {
              assertThat(context).hasSingleBean(HoldfastConnectionDetails.class);
              assertThatLocksAreOn(context, "lock:a", 0, 1, 2);
            });
  }

  @Test
  void containersStartAndStopWithTheContext() {
    FakeRedisContainer[] containers =
        SERVERS.all().stream().map(FakeRedisContainer::new).toArray(FakeRedisContainer[]::new);
    contexts
        .withBean("servers", HoldfastContainers.class, () -> HoldfastContainers.of(containers))
        .withInitializer(new TestcontainersLifecycleApplicationContextInitializer())
        .run(
            context -> {
              assertThatLocksAreOn(context, "lock:a", 0, 1, 2);
              assertThat(containers).allMatch(FakeRedisContainer::isRunning);
            });
    assertThat(containers).noneMatch(FakeRedisContainer::isRunning);
  }

  @Test
  void containersOfAnImageExposeThePortOfRedis() {
    assertThat(HoldfastContainers.of("valkey/valkey:9", 3).containers())
        .hasSize(3)
        .allSatisfy(
            container -> {
              assertThat(container.getImage().toString()).contains("=valkey/valkey:9,");
              assertThat(container.getExposedPorts()).containsExactly(6379);
            });
  }

  @Test
  void servicesOfDockerComposeAreNodesThatVoteAtOnce() {
    contexts
        .withInitializer(
            FakeCompose.ready(
                new FakeCompose("redis-1", "redis:8", SERVERS.node(0)),
                new FakeCompose("locks-2", "valkey/valkey:9", SERVERS.node(1)),
                new FakeCompose("redis-3", "redis", SERVERS.node(2)),
                new FakeCompose("db", "postgres:18", SERVERS.node(2))))
        .run(context -> assertThatLocksAreOn(context, "lock:a", 0, 1, 2));
  }

  @Test
  void anIgnoredServiceOfDockerComposeIsNoNode() {
    contexts
        .withInitializer(
            FakeCompose.ready(
                new FakeCompose("locks", "redis:8", SERVERS.node(0)),
                new FakeCompose(
                    "cache", "redis:8", SERVERS.node(1), Map.of("dev.holdfast.ignore", "true"))))
        .run(context -> assertThatLocksAreOn(context, "lock:a", 0));
  }

  @Test
  void servicesThatAreNamedAsLockServersAreUnknownToBootsRedis() {
    Map<String, String> locks = Map.of("org.springframework.boot.service-connection", "holdfast");
    contexts
        .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
        .withInitializer(
            FakeCompose.ready(
                new FakeCompose(
                    "cache", "redis:8", SERVERS.node(0), Map.of("dev.holdfast.ignore", "true")),
                new FakeCompose("locks-1", "redis:8", SERVERS.node(1), locks),
                new FakeCompose("locks-2", "redis:8", SERVERS.node(2), locks)))
        .run(
            context -> {
              assertThatLocksAreOn(context, "lock:a", 1, 2);
              DataRedisConnectionDetails cache = context.getBean(DataRedisConnectionDetails.class);
              assertThat(Objects.requireNonNull(cache.getStandalone()).getPort())
                  .isEqualTo(SERVERS.node(0).port());
            });
  }

  @Test
  void theLockOfACachedNameOnTheSameServerIsNotItsKey() {
    SERVERS.node(1).command("SET", "a", "a cached value");

    contexts
        .withUserConfiguration(OneContainer.class)
        .run(context -> assertThatLocksAreOn(context, "lock:a", 1));

    assertThat(SERVERS.node(1).command("GET", "a")).isEqualTo("a cached value");
  }

  @Test
  void containersLeaveAUrlWithoutNodesAsItIs() {
    contexts
        .withUserConfiguration(OneContainer.class)
        .withPropertyValues("holdfast.url=memory:")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void anOptionOfTheApplicationTakesThePlaceOfTrust() {
    contexts
        .withInitializer(
            FakeCompose.ready(
                new FakeCompose("redis-1", "redis:8", SERVERS.node(0)),
                new FakeCompose("redis-2", "redis:8", SERVERS.node(1)),
                new FakeCompose("redis-3", "redis:8", SERVERS.node(2))))
        .withPropertyValues("holdfast.options.newNodes=wait")
        .run(ServiceConnectionsTest::assertThatNewNodesAreNotTrusted);
  }

  @Test
  void locksWorkWithoutTestcontainersAndDockerCompose() {
    Contexts.of(HoldfastAutoConfiguration.class)
        .withClassLoader(
            new FilteredClassLoader(
                "org.testcontainers",
                "org.springframework.boot.testcontainers",
                "org.springframework.boot.docker"))
        .withPropertyValues("holdfast.url=memory:")
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockManager.class));
  }
}
