package dev.holdfast.redlock.lettuce;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.drivertests.Connections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A user's client that wraps its connections in a class of its own, which is no driver's. */
class WrappedConnectionTest {
  private static final class WrappingClient extends RedisClient {
    WrappingClient() {
      super(null, new RedisURI());
      setOptions(ClientOptions.builder().autoReconnect(false).build());
    }

    @Override
    public <K, V> ConnectionFuture<StatefulRedisConnection<K, V>> connectAsync(
        RedisCodec<K, V> codec, RedisURI uri) {
      return super.connectAsync(codec, uri).thenApply(WrappingClient::wrapped);
    }

    @SuppressWarnings("unchecked")
    private static <K, V> StatefulRedisConnection<K, V> wrapped(
        StatefulRedisConnection<K, V> made) {
      return (StatefulRedisConnection<K, V>)
          Proxy.newProxyInstance(
              WrappingClient.class.getClassLoader(),
              new Class<?>[] {StatefulRedisConnection.class},
              (proxy, method, arguments) -> method.invoke(made, arguments));
    }
  }

  @Test
  void wrappedConnectionFailsTheConnectAndLeavesNoConnection() {
    WrappingClient client = new WrappingClient();
    try (TestNodes servers = TestNodes.start(1)) {
      TestNode server = servers.node(0);
      RedisURI uri = RedisURI.create(server.uri());
      try (RedisNodes nodes =
          LettuceRedlock.builder().client(client, uri).connections(OpenSettings.none())) {
        assertThatThrownBy(() -> nodes.first().connect(0, () -> {}).get(10, TimeUnit.SECONDS))
            .hasMessageContaining("use a client whose connections are Lettuce's own");
        soon().until(() -> Connections.to(server) == 0);
      }
    } finally {
      client.shutdown();
    }
  }
}
