package dev.holdfast.redlock.redisson;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.FaultProxy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** Which clients and addresses are taken, and what is said of those that are not. */
class ClientSettingsTest {
  private static final String COUNT = "return redis.call('INCR', KEYS[1])";

  static Stream<Arguments> severalServers() {
    return Stream.of(
        severalServers(
            "useClusterServers()",
            config -> config.useClusterServers().addNodeAddress("redis://:s3cret@h1:7000")),
        severalServers(
            "useSentinelServers()",
            config ->
                config
                    .useSentinelServers()
                    .setMasterName("m")
                    .addSentinelAddress("redis://:s3cret@h1:7000")),
        severalServers(
            "several servers",
            config -> config.useReplicatedServers().addNodeAddress("redis://:s3cret@h1:7000")));
  }

  private static Arguments severalServers(String name, Consumer<Config> setup) {
    return arguments(name, setup);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("severalServers")
  void aClientOfSeveralServersIsRefused(String name, Consumer<Config> setup) {
    Config config = new Config().setThreads(2).setNettyThreads(2).setLazyInitialization(true);
    setup.accept(config);
    RedissonClient client = Redisson.create(config);
    try {
      assertThatThrownBy(() -> RedissonRedlock.builder().client(client))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("not set up with useSingleServer()")
          .hasMessageContaining("give one client for each master")
          .hasMessageNotContaining("s3cret");
    } finally {
      YourClients.shutdown(client);
    }
  }

  @Test
  void wrappedClientIsRefused() {
    RedissonClient proxy =
        (RedissonClient)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedissonClient.class},
                (self, method, arguments) -> {
                  throw new AssertionError("not to be called");
                });
    assertThatThrownBy(() -> RedissonRedlock.builder().client(proxy))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("give the object that Redisson.create returned");
  }

  /**
   * The reason why the driver uses no pool. If this fails, Redisson has corrected it, and the pool
   * may do.
   */
  @Test
  void redissonSendsAgainWhatWasNotAnswered() throws Exception {
    try (TestNodes servers = TestNodes.start(1);
        FaultProxy proxy = new FaultProxy(servers.node(0).host(), servers.node(0).port())) {
      TestNode server = servers.node(0);
      Config config = YourClients.config(proxy.uri()).setUseScriptCache(false);
      config
          .useSingleServer()
          .setTimeout(500)
          .setRetryDelay(new ConstantDelay(Duration.ofMillis(10)));
      RedissonClient client = Redisson.create(config);
      try {
        proxy.loseReplies(true);
        client
            .getScript(StringCodec.INSTANCE)
            .evalAsync(RScript.Mode.READ_WRITE, COUNT, RScript.ReturnType.LONG, List.of("count"));

        soon()
            .untilAsserted(
                () -> assertThat((Long) server.command("INCRBY", "count", "0")).isGreaterThan(1));
      } finally {
        YourClients.shutdown(client);
      }
    }
  }

  @Test
  void slowSettingsOfAClientDoNotAffectTheManager() {
    Config config = YourClients.config("redis://127.0.0.1:1").setLazyInitialization(true);
    config
        .setTcpNoDelay(false)
        .useSingleServer()
        .setRetryAttempts(100)
        .setTimeout(3_600_000)
        .setConnectTimeout(3_600_000)
        .setPingConnectionInterval(1)
        .setConnectionPoolSize(1);
    RedissonClient client = Redisson.create(config);
    try {
      assertThatThrownBy(() -> RedissonRedlock.builder().client(client).open())
          .isInstanceOf(LockOutageException.class)
          .hasMessageContaining("refused");
      var settings =
          RedissonNode.of(client, Duration.ofSeconds(2)).newClient(begun -> {}).getConfig();
      assertThat(settings.isTcpNoDelay()).isTrue();
      assertThat(settings.getConnectTimeout()).isEqualTo(2_000);
      assertThat(settings.getCommandTimeout()).isEqualTo(2_000);
      assertThat(settings.getPingConnectionInterval()).isZero();
    } finally {
      YourClients.shutdown(client);
    }
  }

  @Test
  void aClientThatWasShutDownIsAnOutage() {
    RedissonClient client = YourClients.lazy("redis://127.0.0.1:1", config -> {});
    YourClients.shutdown(client);
    assertThatThrownBy(() -> RedissonRedlock.builder().client(client).open())
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("127.0.0.1:1: its RedissonClient was shut down");
  }

  @Test
  void anAddressThatIsListedTwiceIsRefused() {
    RedissonClient client = YourClients.lazy("redis://:s3cret@h1:7000", config -> {});
    try {
      assertThatThrownBy(
              () -> RedissonRedlock.builder().node("redis://h1:7000").client(client).open())
          .isInstanceOf(LockConfigurationException.class)
          .hasMessage("node h1:7000 is listed twice: list each server once");
    } finally {
      YourClients.shutdown(client);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "h1:7000",
        "redis://:s3cret@h1:port",
        "redis://:s3cret@h1,redis://h2",
        "redis://:s3cret@h1?nodeTimeout=1s",
        "lettuce:redis://:s3cret@h1"
      })
  void aTextThatIsNotOneUriIsRefused(String uri) {
    assertThatThrownBy(() -> RedissonRedlock.builder().node(uri))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void noNodeIsRefused() {
    assertThatThrownBy(() -> RedissonRedlock.builder().open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("there are 0 nodes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"redis://[::1]:7000", "redis://::1:7000"})
  void addressesAreReadable(String uri) {
    Config config = YourClients.config(uri).setLazyInitialization(true);
    config.setPassword("s3cret").useSingleServer().setDatabase(3);
    RedissonClient client = Redisson.create(config);
    try {
      assertThat(RedissonNode.of(client, Duration.ofSeconds(2)).address())
          .isEqualTo("[::1]:7000/3");
    } finally {
      YourClients.shutdown(client);
    }
    try (RedisNodes nodes =
        RedissonRedlock.builder()
            .node("redis://u:p@[::1]:7000/3")
            .connections(OpenSettings.none())) {
      assertThat(nodes.addresses()).containsExactly("[::1]:7000/3");
    }
  }
}
