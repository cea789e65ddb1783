package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisNodes;
import java.net.URI;
import java.util.List;

/** The driver without the algorithm, for drivers that break a promise. */
public final class JedisConnections {
  private JedisConnections() {}

  public static RedisNodes of(List<String> uris, RedlockOptions options) {
    JedisRedlock.Builder builder = JedisRedlock.builder().options(options);
    uris.forEach(uri -> builder.node(URI.create(uri)));
    return builder.connections();
  }
}
