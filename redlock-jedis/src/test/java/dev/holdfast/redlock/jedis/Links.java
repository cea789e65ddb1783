package dev.holdfast.redlock.jedis;

import dev.holdfast.drivertests.Connections;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.RedlockOptions;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.Pool;

/** Makes drivers without the algorithm above them. */
final class Links {
  private Links() {}

  /** The ways to make a driver. Every promise of the port holds for each. */
  enum Kind {
    OWN,
    YOUR_CLIENT,
    YOUR_POOL_OF_ONE
  }

  static Driver over(Kind kind, List<String> uris) {
    return over(kind, uris, RedlockOptions.defaults().connectTimeout(Duration.ofSeconds(10)));
  }

  static Driver over(Kind kind, List<String> uris, RedlockOptions options) {
    List<Pool<Connection>> yours = new ArrayList<>();
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    for (String text : uris) {
      URI uri = URI.create(text);
      HostAndPort server = new HostAndPort(uri.getHost(), uri.getPort());
      switch (kind) {
        case OWN -> builder.node(uri);
        case YOUR_CLIENT -> {
          RedisClient client = RedisClient.create(server);
          yours.add(client.getPool());
          builder.client(client, server);
        }
        case YOUR_POOL_OF_ONE -> {
          ConnectionPoolConfig one = new ConnectionPoolConfig();
          one.setMaxTotal(1);
          ConnectionPool pool =
              new ConnectionPool(server, DefaultJedisClientConfig.builder().build(), one);
          yours.add(pool);
          builder.client(pool, server);
        }
      }
    }
    return new Driver(
        builder.connections(),
        () -> yours.forEach(Pool::close),
        server -> yours.isEmpty() ? Connections.to(server) : borrowed(yours));
  }

  /** Counts borrowed connections. An idle one in a pool is the user's. */
  private static long borrowed(List<Pool<Connection>> pools) {
    return pools.stream().mapToInt(Pool::getNumActive).sum();
  }
}
