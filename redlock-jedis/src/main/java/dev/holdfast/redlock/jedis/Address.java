package dev.holdfast.redlock.jedis;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/**
 * Where a node is, and how to speak to it.
 *
 * @param server host and port
 * @param config all else
 */
record Address(HostAndPort server, JedisClientConfig config) {
  /** What an operator sees in {@code CLIENT LIST}. */
  private static final String CLIENT_NAME = "holdfast";

  /** Of a node's URI; its errors hide user and password. */
  static Address of(URI uri) {
    LockUrl url = LockUrl.parse("redlock:" + uri, Map.of());
    url.requireKnownOptions(Set.of());
    List<URI> nodes = url.nodes();
    if (nodes.size() != 1) {
      throw new LockConfigurationException(url + " is not one node: write redis://host:port");
    }
    return ofNode(nodes.get(0));
  }

  private static Address ofNode(URI node) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .clientName(CLIENT_NAME)
            // nothing more is told: a user may lack the right to, and the server logs each refusal
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
    if (node.getScheme().equals("rediss")) {
      // said, because before Jedis 8 the host's name is not verified by default
      config.sslOptions(SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL).build());
    }
    String path = node.getPath();
    if (path != null && path.length() > 1) {
      config.database(Integer.parseInt(path.substring(1)));
    }
    String userInfo = node.getUserInfo();
    if (userInfo != null) {
      int colon = userInfo.indexOf(':');
      String user = colon < 0 ? userInfo : userInfo.substring(0, colon);
      config
          .user(user.isEmpty() ? null : user)
          .password(colon < 0 ? "" : userInfo.substring(colon + 1));
    }
    String host = node.getHost();
    return new Address(
        new HostAndPort(
            host.startsWith("[") ? host.substring(1, host.length() - 1) : host, node.getPort()),
        config.build());
  }

  boolean isTls() {
    return config.isSsl() || config.getSslOptions() != null;
  }

  /** With a limit for connecting, and for each answer. */
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
