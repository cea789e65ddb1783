package dev.holdfast.redlock.redisson;

import dev.holdfast.LockConfigurationException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.NodeType;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisClientConfig;
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.connection.ConnectionManager;
import org.redisson.misc.RedisURI;

/**
 * One node, and where and as whom to reach it.
 *
 * @param address for messages: never with user or password
 * @param tls whether it is spoken to by TLS
 * @param config what to connect with, made again by each call; what it runs on is shared
 * @param yours the client of the user's by which the node is reached, if it is one
 */
record Server(
    String address,
    boolean tls,
    Supplier<RedisClientConfig> config,
    @Nullable RedissonClient yours) {

  /**
   * A node that is reached by a client of the user's: by its address, credentials, TLS and threads,
   * but beside its pool, which may hold a command back, reorder it or send it again.
   */
  static Server of(RedissonClient client) {
    if (!(client instanceof Redisson redisson)) {
      throw new LockConfigurationException(
          "a RedissonClient of "
              + client.getClass()
              + " does not show its connections: give the object that Redisson.create returned");
    }
    requireOneServer(client.getConfig());
    ConnectionManager connections = redisson.getCommandExecutor().getConnectionManager();
    var settings = connections.getServiceManager().getConfig();
    RedisURI uri = new RedisURI(settings.getMasterAddress());
    return new Server(
        address(uri, settings.getDatabase()),
        uri.isSsl(),
        () -> {
          if (client.isShuttingDown()) {
            throw new RedisConnectionException("its RedissonClient was shut down");
          }
          return connections.createClient(NodeType.MASTER, uri, null).getConfig();
        },
        client);
  }

  private static String address(RedisURI uri, int database) {
    String host = uri.getHost();
    String server =
        uri.isUDS()
            ? host
            : (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host)
                + ":"
                + uri.getPort();
    return database == 0 ? server : server + "/" + database;
  }

  /** All others follow a master to another server, or send a command there. */
  private static void requireOneServer(Config config) {
    if (!config.isSingleConfig()) {
      throw new LockConfigurationException(
          "a RedissonClient is set up with "
              + (config.isClusterConfig()
                  ? "useClusterServers()"
                  : config.isSentinelConfig() ? "useSentinelServers()" : "several servers")
              + ", which may turn to another server: give one client for each master, set up with"
              + " useSingleServer()");
    }
  }
}
