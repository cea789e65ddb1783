package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import java.net.URI;
import java.util.List;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/** The driver without the algorithm, for drivers that break a promise. */
public final class JedisConnections {
  private JedisConnections() {}

  public static RedisNodes of(List<String> uris, RedlockOptions options) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    uris.forEach(uri -> builder.node(URI.create(uri)));
    return builder.connections();
  }

  /** The same, by TLS with whoever answers. */
  public static RedisNodes trustingAnybody(List<String> uris, RedlockOptions options) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    JedisClientConfig config =
        DefaultJedisClientConfig.builder()
            .sslOptions(SslOptions.builder().sslVerifyMode(SslVerifyMode.INSECURE).build())
            .build();
    uris.stream()
        .map(URI::create)
        .forEach(uri -> builder.node(new HostAndPort(uri.getHost(), uri.getPort()), config));
    return builder.connections();
  }
}
