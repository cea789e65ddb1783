package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.RedlockOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.List;

/** Makes drivers without the algorithm above them. */
final class Links {
  private Links() {}

  /** The ways to make a driver; every promise of the port holds for each. */
  enum Kind {
    OWN_CLIENT,
    YOUR_CLIENT,
    YOUR_CLIENT_THAT_RECONNECTS
  }

  static Driver over(Kind kind, List<String> uris) {
    return over(kind, uris, RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(10)));
  }

  static Driver over(Kind kind, List<String> uris, RedlockOptions options) {
    RedisClient client = RedisClient.create();
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
        builder.connections(), () -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
  }
}
