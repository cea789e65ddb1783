package dev.holdfast.redlock.redisson;

import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.redisson.api.RedissonClient;
import org.redisson.config.Protocol;

/** Makes drivers without the algorithm above them. */
final class Links {
  static final RedlockOptions PATIENT =
      RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(10));

  private Links() {}

  /** The ways to make a driver. Every promise of the port holds for each. */
  enum Kind {
    OWN_CLIENT,
    /** A user's client with Redisson's defaults, among them four retries of unanswered commands. */
    YOUR_CLIENT,
    YOUR_CLIENT_WITH_RESP3
  }

  static Driver over(Kind kind, List<String> uris) {
    return over(kind, uris, PATIENT);
  }

  static Driver over(Kind kind, List<String> uris, RedlockOptions options) {
    List<RedissonClient> clients = new ArrayList<>();
    RedisNodes nodes =
        builder(kind, clients, uris).options(options).connections(OpenSettings.none());
    return new Driver(nodes, () -> clients.forEach(YourClients::shutdown));
  }

  /** Adds the user's clients, if there are any, to those that must be shut down. */
  static RedissonRedlock.Builder builder(
      Kind kind, List<RedissonClient> clients, List<String> uris) {
    RedissonRedlock.Builder builder = RedissonRedlock.builder();
    for (String uri : uris) {
      if (kind == Kind.OWN_CLIENT) {
        builder.node(uri);
      } else {
        Protocol protocol = kind == Kind.YOUR_CLIENT_WITH_RESP3 ? Protocol.RESP3 : Protocol.RESP2;
        RedissonClient client =
            YourClients.lazy(
                uri,
                config ->
                    config
                        .setProtocol(protocol)
                        .useSingleServer()
                        .setPingConnectionInterval(300)); // not for our connections
        clients.add(client);
        builder.client(client);
      }
    }
    return builder;
  }
}
