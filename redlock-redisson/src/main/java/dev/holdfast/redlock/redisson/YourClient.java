package dev.holdfast.redlock.redisson;

import dev.holdfast.LockConfigurationException;
import java.util.Optional;
import org.redisson.Redisson;
import org.redisson.api.NodeType;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisClient;
import org.redisson.config.Config;
import org.redisson.connection.ConnectionManager;
import org.redisson.misc.RedisURI;

/**
 * A node that is reached by a client of the user's: by its address, credentials, TLS and threads,
 * but beside its pool, which may hold a command back, reorder it or send it again.
 */
final class YourClient implements Server {
  private final RedissonClient client;
  private final ConnectionManager connections;
  private final RedisURI uri;
  private final int database;

  private YourClient(
      RedissonClient client, ConnectionManager connections, RedisURI uri, int database) {
    this.client = client;
    this.connections = connections;
    this.uri = uri;
    this.database = database;
  }

  static YourClient of(RedissonClient client) {
    if (!(client instanceof Redisson redisson)) {
      throw new LockConfigurationException(
          "a RedissonClient of "
              + client.getClass()
              + " does not show its connections: give the object that Redisson.create returned");
    }
    requireOneServer(client.getConfig());
    ConnectionManager connections = redisson.getCommandExecutor().getConnectionManager();
    var settings = connections.getServiceManager().getConfig();
    return new YourClient(
        client, connections, new RedisURI(settings.getMasterAddress()), settings.getDatabase());
  }

  @Override
  public String address() {
    String host = uri.getHost();
    String server =
        uri.isUDS()
            ? host
            : (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host)
                + ":"
                + uri.getPort();
    return database == 0 ? server : server + "/" + database;
  }

  @Override
  public RedisClient newClient() {
    return connections.createClient(NodeType.MASTER, uri, null);
  }

  @Override
  public Optional<RedissonClient> yours() {
    return Optional.of(client);
  }

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
