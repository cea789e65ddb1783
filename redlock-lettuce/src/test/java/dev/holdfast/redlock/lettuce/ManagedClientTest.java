package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A client that a user unwraps has all that our own connections leave out. */
class ManagedClientTest {
  private static TestNodes servers;
  private static ManagedClient own;

  @BeforeAll
  static void start() {
    servers = TestNodes.start(1);
    own = ManagedClient.start(Duration.ofSeconds(10), OpenSettings.none());
  }

  @AfterAll
  static void stop() {
    own.close();
    servers.close();
  }

  @Test
  void ownConnectionsCreateNoCommandInterfaces() throws Exception {
    try (StatefulRedisConnection<?, ?> connection =
        client().connectAsync(LettuceNode.CODEC, uri()).get()) {
      assertLean(connection);
    }
  }

  @Test
  void ownPubSubConnectionsCreateNoCommandInterfaces() throws Exception {
    try (StatefulRedisPubSubConnection<?, ?> connection =
        client().connectPubSubAsync(LettuceNode.CODEC, uri()).get()) {
      assertLean(connection);
    }
  }

  @Test
  void otherConnectionsHaveAllCommandInterfaces() {
    try (StatefulRedisConnection<String, String> connection =
            client().connect(StringCodec.UTF8, uri());
        StatefulRedisPubSubConnection<String, String> listening =
            client().connectPubSub(StringCodec.UTF8, uri())) {
      assertThat(connection.sync().ping()).isEqualTo("PONG");
      assertThat(connection.reactive().ping().block()).isEqualTo("PONG");
      assertThat(listening.sync().ping()).isEqualTo("PONG");
      assertThat(listening.reactive().ping().block()).isEqualTo("PONG");
    }
  }

  private static void assertLean(StatefulRedisConnection<?, ?> connection) {
    assertThat((Object) connection.sync()).isNull();
    assertThat((Object) connection.async()).isNull();
    assertThat((Object) connection.reactive()).isNull();
  }

  private static RedisClient client() {
    return own;
  }

  private static RedisURI uri() {
    return RedisURI.create(servers.node(0).uri());
  }
}
