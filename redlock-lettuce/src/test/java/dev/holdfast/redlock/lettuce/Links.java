package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.spi.OpenSettings;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Makes drivers without the algorithm above them. */
final class Links {
  private Links() {}

  /** The ways to make a driver. Every promise of the port holds for each. */
  enum Kind {
    OWN_CLIENT,
    YOUR_CLIENT,
    YOUR_CLIENT_THAT_RECONNECTS
  }

  static Driver over(Kind kind, List<String> uris) {
    return over(kind, uris, RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(10)));
  }

  static Driver over(Kind kind, List<String> uris, RedlockOptions options) {
    ClientOfUser client = new ClientOfUser();
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(kind == Kind.YOUR_CLIENT_THAT_RECONNECTS)
            .disconnectedBehavior(
                kind == Kind.YOUR_CLIENT_THAT_RECONNECTS
                    ? ClientOptions.DisconnectedBehavior.REJECT_COMMANDS
                    : ClientOptions.DisconnectedBehavior.ACCEPT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP3)
            .timeoutOptions(TimeoutOptions.enabled(Duration.ofSeconds(2))) // not for our commands
            .build());
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(options);
    for (String uri : uris) {
      RedisURI address = RedisURI.create(uri);
      if (kind == Kind.OWN_CLIENT) {
        builder.node(address);
      } else {
        builder.client(client, address);
      }
    }
    return new Driver(
        builder.connections(OpenSettings.none()),
        () -> {
          client.awaitAttempts();
          client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        });
  }

  /** Knows what it connects: shut down in the midst of that, Lettuce leaves the socket open. */
  private static final class ClientOfUser extends RedisClient {
    private final Queue<CompletableFuture<?>> attempts = new ConcurrentLinkedQueue<>();

    ClientOfUser() {
      super(null, new RedisURI());
    }

    @Override
    public <K, V> ConnectionFuture<StatefulRedisConnection<K, V>> connectAsync(
        RedisCodec<K, V> codec, RedisURI uri) {
      ConnectionFuture<StatefulRedisConnection<K, V>> attempt = super.connectAsync(codec, uri);
      attempts.add(attempt.toCompletableFuture());
      return attempt;
    }

    void awaitAttempts() {
      DriverThreads.await(
          Duration.ofSeconds(2),
          CompletableFuture.allOf(attempts.toArray(CompletableFuture[]::new)));
    }
  }
}
