package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.net.URI;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.builders.StandaloneClientBuilder;
import redis.clients.jedis.providers.ConnectionProvider;

class ClientSettingsTest {
  private static final TestNodes SERVERS = TestNodes.start(1);
  private static final TestNode SERVER = SERVERS.node(0);
  private static final HostAndPort ADDRESS = new HostAndPort(SERVER.host(), SERVER.port());
  private static final JedisClientConfig PLAIN = DefaultJedisClientConfig.builder().build();

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void aClientThatWaitsForeverForAReplyIsRefusedByNameOfTheSetting() {
    JedisClientConfig patient = DefaultJedisClientConfig.builder().socketTimeoutMillis(0).build();
    assertThatItIsRefused(
        client -> client.clientConfig(patient),
        "node " + SERVER.address() + " cannot vote",
        "socketTimeoutMillis=0",
        "set socketTimeoutMillis above 0");
  }

  @Test
  void aPoolThatDoesNotWaitIsRefusedByNameOfTheSetting() {
    ConnectionPoolConfig hasty = new ConnectionPoolConfig();
    hasty.setBlockWhenExhausted(false);
    assertThatItIsRefused(
        client -> client.poolConfig(hasty),
        SERVER.address(),
        "blockWhenExhausted=false",
        "set blockWhenExhausted to true");
  }

  @Test
  void aClientWithoutAPoolIsRefusedByNameOfTheSetting() {
    try (RedisClient client = RedisClient.builder().connectionProvider(new NoPool()).build()) {
      assertThatThrownBy(() -> JedisRedlock.builder().client(client, ADDRESS))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(SERVER.address(), "connectionProvider", "node(…)");
    }
  }

  @Test
  void nodesAndClientsTogetherAreRefused() {
    try (RedisClient client = RedisClient.create(ADDRESS)) {
      assertThatThrownBy(
              () ->
                  JedisRedlock.builder()
                      .client(client, ADDRESS)
                      .node(URI.create("redis://h1"))
                      .open())
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("give a client for each, or for none");
    }
  }

  @Test
  void anAddressThatIsListedTwiceIsRefused() {
    JedisRedlock.Builder builder =
        JedisRedlock.builder()
            .node(URI.create("redis://:s3cret@h1:7000"))
            .node(new HostAndPort("h1", 7000), PLAIN);
    assertThatThrownBy(builder::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("node h1:7000 is listed twice: list each server once");
  }

  @Test
  void noNodeIsRefused() {
    assertThatThrownBy(() -> JedisRedlock.builder().open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("there are 0 nodes");
  }

  @Test
  void invalidUriIsRefusedWithoutShowingItsPassword() {
    assertThatThrownBy(() -> JedisRedlock.builder().node(URI.create("http://app:s3cret@h1")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("redis://")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void addressesAreReadable() {
    assertThat(address("redis://u:p@h1:7000/3")).hasToString("h1:7000/3");
    assertThat(address("redis://[::1]:7000")).hasToString("[::1]:7000");
    assertThat(address("redis://h1")).hasToString("h1:6379");
  }

  private static Address address(String uri) {
    return Address.of(
        RedisNodeUri.only(LockUrl.parse("redlock:" + uri, Map.of())), OpenSettings.none());
  }

  private static void assertThatItIsRefused(
      Consumer<StandaloneClientBuilder<RedisClient>> setting, String... words) {
    StandaloneClientBuilder<RedisClient> yours = RedisClient.builder().hostAndPort(ADDRESS);
    setting.accept(yours);
    try (RedisClient client = yours.build()) {
      assertThatThrownBy(() -> JedisRedlock.builder().client(client, ADDRESS).open())
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(words);
      assertThat(client.getPool().isClosed()).isFalse();
    }
  }

  private record NoPool() implements ConnectionProvider {
    @Override
    public Connection getConnection() {
      return new Connection(ADDRESS);
    }

    @Override
    public Connection getConnection(CommandArguments arguments) {
      return getConnection();
    }

    @Override
    public void close() {}
  }
}
