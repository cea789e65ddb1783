package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Logs;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.mock.env.MockEnvironment;

/** The server of {@code spring.data.redis} as the only node, a real one. */
class SharedRedisTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  private static final ConfigurableListableBeanFactory BEANS = new DefaultListableBeanFactory();

  private static TestNodes servers;

  private final ApplicationContextRunner contexts =
      Contexts.of(
          SslAutoConfiguration.class,
          DataRedisAutoConfiguration.class,
          HoldfastAutoConfiguration.class);

  @BeforeAll
  static void start() {
    servers = TestNodes.start(1);
    servers.node(0).command("ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all");
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @BeforeEach
  void empty() {
    servers.node(0).command("FLUSHALL");
  }

  private ApplicationContextRunner withServer() {
    return contexts.withPropertyValues(
        "spring.data.redis.port=" + servers.node(0).port(),
        "spring.data.redis.username=app",
        "spring.data.redis.password=s3cret",
        "spring.data.redis.database=3");
  }

  @Test
  void locksAreKeptOnTheServerApartFromTheApplicationsKeysAndClient() {
    withServer()
        .run(
            context -> {
              StringRedisTemplate application = context.getBean(StringRedisTemplate.class);
              application.opsForValue().set("order-4711", "cached");
              try (Lease lease =
                  context.getBean(LockManager.class).tryAcquire("order-4711", TTL).orElseThrow()) {
                assertThat(application.opsForValue().get("lock:order-4711"))
                    .isEqualTo(lease.token());
                assertThat(application.opsForValue().get("order-4711")).isEqualTo("cached");
              }
              assertThat(String.valueOf(servers.node(0).command("CLIENT", "LIST")))
                  .containsPattern(" name=holdfast .* db=3 .* user=app ")
                  .containsPattern(" name= .* db=3 .* user=app ");
              assertThat(context).hasSingleBean(RedisConnectionFactory.class);
            });
  }

  @Test
  void oneLineOfInformationNamesTheRisk() {
    try (Logs logs = new Logs()) {
      withServer().run(context -> assertThat(context).hasNotFailed());

      assertThat(logs.messages())
          .filteredOn(line -> line.contains("spring.data.redis"))
          .singleElement()
          .asString()
          .startsWith("INFO locks are kept on the one server of spring.data.redis, localhost:")
          .contains("a crash of this server may lose locks")
          .doesNotContain("s3cret");
    }
  }

  @Test
  void optionsTakeThePlaceOfThePrefix() {
    withServer()
        .withPropertyValues("holdfast.options.keyPrefix=own:", "spring.data.redis.database=0")
        .run(
            context -> {
              try (Lease lease =
                  context.getBean(LockManager.class).tryAcquire("a", TTL).orElseThrow()) {
                assertThat(servers.node(0).command("GET", "own:a")).isEqualTo(lease.token());
              }
            });
  }

  @ParameterizedTest
  @CsvSource({
    "holdfast.url=memory:, lockManager",
    "holdfast.managers.orders.url=memory:, orders",
  })
  void otherSettingsTakeItsPlace(String property, String bean) {
    withServer()
        .withPropertyValues(property)
        .run(
            context -> {
              assertThat(context)
                  .hasSingleBean(LockManager.class)
                  .hasBean(bean)
                  .doesNotHaveBean(HoldfastConnectionDetails.class);
              assertThat(context.getBean(LockManager.class).unwrap(MemoryStore.class)).isPresent();
            });
  }

  @Test
  void anEmptyUrlIsReportedAndDoesNotLeadToThisServer() {
    withServer()
        .withPropertyValues("holdfast.url=")
        .run(
            context ->
                assertThat(Failures.analyze(context).getDescription())
                    .startsWith("holdfast.url is empty"));
  }

  @Test
  void aHostWithAnUnderscoreIsANode() {
    contexts
        .withPropertyValues("spring.data.redis.host=redis_cache", "holdfast.options.connect=lazy")
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(LockManager.class).nodes())
                  .extracting(node -> node.address())
                  .containsExactly("redis_cache:6379");
            });
  }

  @Test
  void nodesTakeItsPlace() {
    withServer()
        .withPropertyValues(
            "spring.data.redis.port=1",
            "holdfast.nodes[0].host=localhost",
            "holdfast.nodes[0].port=" + servers.node(0).port())
        .run(
            context -> {
              try (Lease lease =
                  context.getBean(LockManager.class).tryAcquire("a", TTL).orElseThrow()) {
                assertThat(servers.node(0).command("GET", "a")).isEqualTo(lease.token());
              }
            });
  }

  @Test
  void aManagerOfTheApplicationTakesItsPlace() {
    withServer()
        .withUserConfiguration(HoldfastAutoConfigurationTest.OwnManager.class)
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LockManager.class)
                    .hasBean("mine")
                    .doesNotHaveBean(HoldfastConnectionDetails.class));
  }

  @Test
  void noManagerIsOpenedWithoutSpringDataRedisOrItsAutoConfiguration() {
    withServer()
        .withClassLoader(new FilteredClassLoader("org.springframework.data.redis"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockManager.class));
    Contexts.of(HoldfastAutoConfiguration.class)
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.data.redis"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockManager.class));
    Contexts.of(HoldfastAutoConfiguration.class)
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockManager.class));
  }

  @Test
  void noManagerIsOpenedIfLocksAreSwitchedOff() {
    withServer()
        .withPropertyValues("holdfast.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(LockManager.class)
                    .doesNotHaveBean(HoldfastConnectionDetails.class));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "spring.data.redis.sentinel.master=m spring.data.redis.sentinel.nodes=h1:1 | Sentinel",
        "spring.data.redis.cluster.nodes=h1:1,h2:2 | Cluster",
        "spring.data.redis.masterreplica.nodes=h1:1,h2:2 | replicas",
      })
  void serversThatTakeOverAreRefusedWithWhatToDo(String properties, String kind) {
    contexts
        .withPropertyValues(properties.split(" ", -1))
        .run(
            context -> {
              var analysis = Failures.analyze(context);
              assertThat(analysis.getDescription())
                  .startsWith("spring.data.redis is set up with " + kind);
              assertThat(analysis.getAction())
                  .startsWith("Set holdfast.url or holdfast.nodes to independent servers");
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnClient {
    @Bean
    RedisConnectionFactory cache() {
      return new LettuceConnectionFactory("cache.invalid", 7000);
    }
  }

  private ApplicationContextRunner withOwnClient() {
    return contexts
        .withUserConfiguration(OwnClient.class)
        .withPropertyValues(
            "holdfast.options.connect=lazy", "spring.data.redis.repositories.enabled=false");
  }

  @Test
  void aClientOfTheApplicationDoesNotNameTheServerOfTheLocks() {
    withOwnClient()
        .run(
            context -> {
              var analysis = Failures.analyze(context);
              assertThat(analysis.getDescription())
                  .startsWith("the bean 'cache' connects to a Redis of its own")
                  .doesNotContain("cache.invalid");
              assertThat(analysis.getAction())
                  .startsWith("Set holdfast.url or holdfast.nodes, or spring.data.redis.host");
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spring.data.redis.host=h1",
        "spring.data.redis.port=6379",
        "spring.data.redis.url=redis://h1:6379",
        "holdfast.url=redlock:redis://h1",
        "holdfast.nodes[0].host=h1",
        "holdfast.enabled=false"
      })
  void aNamedServerKeepsTheLocksBesideAClientOfTheApplication(String property) {
    withOwnClient()
        .withPropertyValues(property)
        .run(context -> assertThat(context).hasNotFailed().hasBean("cache"));
  }

  @Test
  void aServiceConnectionNamesTheServerBesideAClientOfTheApplication() {
    withOwnClient()
        .withBean(DataRedisConnectionDetails.class, () -> standalone("h1"))
        .run(
            context ->
                assertThat(context.getBean(LockManager.class).nodes())
                    .extracting(node -> node.address())
                    .containsExactly("h1:7000"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theServerOfBootsOwnClientKeepsTheLocksWithoutAKey(boolean isVirtual) {
    contexts
        .withPropertyValues(
            "holdfast.options.connect=lazy", "spring.threads.virtual.enabled=" + isVirtual)
        .run(
            context ->
                assertThat(context.getBean(LockManager.class).nodes())
                    .extracting(node -> node.address())
                    .containsExactly("localhost:6379"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"rediss://h1:7000", "REDISS://h1:7000"})
  void aUrlWithTlsIsReachedByTls(String url) {
    HoldfastConnectionDetails details =
        new DataRedisConfiguration()
            .holdfastConnectionDetails(
                standalone("h1"),
                BEANS,
                new MockEnvironment().withProperty("spring.data.redis.url", url));

    assertThat(Objects.requireNonNull(details).getNodes())
        .extracting(HoldfastNode::uri)
        .isEqualTo(List.of("rediss://h1:7000"));
  }

  @Test
  void aUrlOfAnotherServerSaysNothingOfTls() {
    HoldfastConnectionDetails details =
        new DataRedisConfiguration()
            .holdfastConnectionDetails(
                standalone("h2"),
                BEANS,
                new MockEnvironment().withProperty("spring.data.redis.url", "rediss://h1:7000"));

    assertThat(details.getNodes()).extracting(HoldfastNode::uri).containsExactly("redis://h2:7000");
  }

  private static DataRedisConnectionDetails standalone(String host) {
    return new DataRedisConnectionDetails() {
      @Override
      public Standalone getStandalone() {
        return Standalone.of(host, 7000);
      }
    };
  }
}
