package dev.holdfast.redlock.redisson;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.RedisNode;
import dev.holdfast.redlock.spi.Subscription;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.NodeType;
import org.redisson.api.RedissonClient;
import org.redisson.client.NettyHook;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisClientConfig;
import org.redisson.client.RedisConnection;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.protocol.RedisCommands;
import org.redisson.connection.ConnectionManager;
import org.redisson.misc.RedisURI;

/**
 * One node, with its address and credentials.
 *
 * @param address for messages: never with user or password
 * @param isTls whether it is spoken to by TLS
 * @param config the settings for connecting, made again by each call. Their event loop is shared
 * @param client the client of the user's by which the node is reached, if it is one
 * @param connectTimeout how long connecting may take
 */
record RedissonNode(
    String address,
    boolean isTls,
    Supplier<RedisClientConfig> config,
    @Nullable RedissonClient client,
    Duration connectTimeout)
    implements RedisNode<RedissonConnection.Encoded> {

  /**
   * Makes a node that uses the address, credentials, TLS and threads of the user's client. It does
   * not use the client's pool, which may hold a command back, reorder it or send it again.
   */
  static RedissonNode of(RedissonClient client, Duration connectTimeout) {
    if (!(client instanceof Redisson redisson)) {
      throw new LockConfigurationException(
          "a RedissonClient of "
              + client.getClass()
              + " does not show its connections: give the object that Redisson.create returned");
    }
    if (!client.getConfig().isSingleConfig()) {
      throw new LockConfigurationException(
          "a RedissonClient is not set up with useSingleServer(), and may turn to another server:"
              + " give one client for each master, each set up with useSingleServer()");
    }
    ConnectionManager connections = redisson.getCommandExecutor().getConnectionManager();
    var settings = connections.getServiceManager().getConfig();
    RedisURI uri = new RedisURI(settings.getMasterAddress());
    return new RedissonNode(
        RedisNodeUri.address(server(uri), settings.getDatabase()),
        uri.isSsl(),
        () -> {
          if (client.isShuttingDown()) {
            throw new RedisConnectionException("its RedissonClient was shut down");
          }
          return connections.createClient(NodeType.MASTER, uri, null).getConfig();
        },
        client,
        connectTimeout);
  }

  @Override
  public void connect(CommandConnection<RedissonConnection.Encoded> connection) {
    connection.onConnecting(
        newClient(opened -> RedissonConnection.begin(opened, connection))
            .connectAsync()
            .thenCompose(this::greet)
            .thenRun(connection::onConnected));
  }

  /**
   * Sends the first commands, after what Redisson itself sends. A user who may not {@code PING} may
   * still lock, and none needs the right to give the connection a name. Connections of the user's
   * client bear that one's name.
   */
  private CompletionStage<?> greet(RedisConnection made) {
    if (client == null) {
      made.async(RedisCommands.CLIENT_SETNAME, "holdfast");
    }
    return made.async(RedisCommands.PING)
        .exceptionallyCompose(
            failure ->
                String.valueOf(failure.getMessage()).startsWith("NOPERM ")
                    ? CompletableFuture.completedFuture(null)
                    : CompletableFuture.failedFuture(failure));
  }

  @Override
  public void subscribe(Subscription subscription) {
    RedisClient made = newClient(opened -> {});
    subscription.onConnecting(
        made.connectPubSubAsync()
            .thenApplyAsync(
                connection -> new RedissonPubSubConnection(connection, subscription),
                made.getConfig().getExecutor()));
  }

  /**
   * Makes a client for one connection, so that each looks the node's name up again. The client need
   * not be closed: it has no threads, and its connection is closed by itself.
   *
   * @param begun gets the channel as soon as there is one, with all of Redisson's handlers
   */
  RedisClient newClient(Consumer<Channel> begun) {
    int millis = Math.max(1, (int) connectTimeout.toMillis());
    RedisClientConfig made = config.get();
    return RedisClient.create(
        made.setConnectTimeout(millis)
            .setCommandTimeout(millis)
            .setTcpNoDelay(true)
            .setPingConnectionInterval(0) // silent nodes are detected above
            .setNettyHook(new Hook(made.getNettyHook(), begun)));
  }

  /** The user's own hook, if there is one, then ours. */
  private record Hook(NettyHook yours, Consumer<Channel> begun) implements NettyHook {
    @Override
    public void afterBoostrapInitialization(Bootstrap bootstrap) {
      yours.afterBoostrapInitialization(bootstrap);
    }

    @Override
    public void afterChannelInitialization(Channel channel) {
      yours.afterChannelInitialization(channel);
      begun.accept(channel);
    }
  }

  private static String server(RedisURI uri) {
    String host = uri.getHost();
    return uri.isUDS() ? host : RedisNodeUri.server(host.replaceAll("[\\[\\]]", ""), uri.getPort());
  }
}
