package dev.holdfast.redlock.jedis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.spi.OpenSettings;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

/**
 * The address of a node, and how to speak to it.
 *
 * @param server host and port
 * @param config all else
 */
record Address(HostAndPort server, JedisClientConfig config) {
  /** The client name that {@code CLIENT LIST} shows. */
  private static final String CLIENT_NAME = "holdfast";

  /** Returns the address in a node's URI; its errors hide user and password. */
  static Address of(URI uri) {
    return of(RedisNodeUri.only(LockUrl.parse("redlock:" + uri, Map.of())), OpenSettings.none());
  }

  /**
   * Returns the address of a node.
   *
   * @param settings of which the trust and key managers are used
   */
  static Address of(RedisNodeUri node, OpenSettings settings) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .clientName(CLIENT_NAME)
            // no CLIENT SETINFO: a user may lack the right to, and the server logs each refusal
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
    if (node.isTls()) {
      Tls.apply(settings, config);
    }
    config.database(node.database());
    if (node.password() != null) {
      config.user(node.user()).password(node.password());
    }
    return new Address(new HostAndPort(node.host(), node.port()), config.build());
  }

  boolean isTls() {
    return config.isSsl() || config.getSslOptions() != null;
  }

  /** Returns the configuration with a limit for connecting, and for each answer. */
  JedisClientConfig config(Duration limit) {
    return DefaultJedisClientConfig.builder()
        .from(config)
        .connectionTimeoutMillis(Messages.millis(limit))
        .socketTimeoutMillis(Messages.millis(limit))
        .build();
  }

  /** For messages: never with user or password. */
  static String text(HostAndPort server) {
    String host = server.getHost();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + server.getPort();
  }

  @Override
  public String toString() {
    int database = config.getDatabase();
    return database == 0 ? text(server) : text(server) + "/" + database;
  }
}
