package dev.holdfast.legacy.setnx;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockUrl;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/**
 * The address of the server, and how to speak to it.
 *
 * @param text for messages: never with user or password
 * @param server host and port
 * @param config all else
 */
record Address(String text, HostAndPort server, JedisClientConfig config) {
  /** The client name that {@code CLIENT LIST} shows. */
  private static final String CLIENT_NAME = "holdfast";

  /** Returns the address in a node's URI. Its errors hide user and password. */
  static Address of(URI uri) {
    return of(RedisNodeUri.only(LockUrl.parse("setnx:" + uri, Map.of())));
  }

  static Address of(RedisNodeUri node) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .clientName(CLIENT_NAME)
            .serverDefaultProtocol() // servers of any age: nothing here needs another
            // no CLIENT SETINFO: a user may lack the right to, and the server logs each refusal
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
    if (node.isTls()) {
      // said, because before Jedis 8 the host's name is not verified by default
      config.sslOptions(SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL).build());
    }
    config.database(node.database());
    if (node.password() != null) {
      config.user(node.user()).password(node.password());
    }
    return new Address(node.address(), new HostAndPort(node.host(), node.port()), config.build());
  }

  boolean isTls() {
    return config.isSsl() || config.getSslOptions() != null;
  }

  /** Returns the configuration with a limit for connecting and for each reply. */
  JedisClientConfig config(Duration limit) {
    int millis = (int) Math.max(1, Math.min(Integer.MAX_VALUE, limit.toMillis()));
    return DefaultJedisClientConfig.builder()
        .from(config)
        .connectionTimeoutMillis(millis)
        .socketTimeoutMillis(millis)
        .build();
  }
}
