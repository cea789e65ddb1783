package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.spi.OpenSettings;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.RedisPubSubAsyncCommandsImpl;
import io.lettuce.core.pubsub.RedisPubSubReactiveCommandsImpl;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.sync.RedisPubSubCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.ThreadFactoryProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The client of a manager that was given none. All of its nodes share one event loop: a round's
 * votes are then counted without threads waking each other.
 *
 * <p>Connections for {@link LettuceNode#CODEC} come without Lettuce's three interfaces for every
 * command of Redis: loading their classes takes most of the time to the first lock, and on a busy
 * machine stops all nodes for seconds at the first subscription.
 */
@SuppressWarnings("NullAway") // our own connections are never asked for the interfaces
final class ManagedClient extends RedisClient {
  private static final long SHUTDOWN_SECONDS = 2;
  private static final RedisURI NOWHERE = RedisURI.create("127.0.0.1", 0);

  /** All channels, also those that are being connected, which netty leaves open at times. */
  private final ChannelGroup all;

  /** The clients whose classes were loaded, or are being loaded. */
  private final Set<RedisClient> warm = new HashSet<>();

  ManagedClient(ClientResources resources, ChannelGroup all) {
    super(resources, new RedisURI());
    this.all = all;
  }

  /**
   * Starts the threads.
   *
   * @param tls of which the trust and key managers are used
   */
  static ManagedClient start(Duration connectTimeout, OpenSettings tls) {
    // daemons of netty's, so that a JVM can exit, by names that an operator knows
    ThreadFactoryProvider threads = pool -> new DefaultThreadFactory("holdfast-" + pool, true);
    EventLoopGroupProvider provider = new DefaultEventLoopGroupProvider(1, threads);
    EventLoopGroup loops = provider.allocate(Transports.eventLoopGroupClass());
    ChannelGroup all = new DefaultChannelGroup("holdfast", loops.next(), true);
    ClientResources resources =
        ClientResources.builder()
            .threadFactoryProvider(threads)
            .eventLoopGroupProvider(provider)
            .eventExecutorGroup(loops)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .nettyCustomizer(
                new NettyCustomizer() {
                  @Override
                  public void afterChannelInitialized(Channel channel) {
                    channel.pipeline().addLast(new NodeBatch.Opener());
                    all.add(channel); // closed at once if the group is
                  }
                })
            .build();
    ManagedClient client = new ManagedClient(resources, all);
    client.setOptions(clientOptions(connectTimeout, tls));
    return client;
  }

  /** Returns a node, of this client or another, whose commands this client's event loop writes. */
  LettuceNode node(RedisClient client, RedisURI uri) {
    if (warm.add(client)) {
      DriverThreads.warmUp(() -> client.connectAsync(LettuceNode.CODEC, NOWHERE));
    }
    uri.setTimeout(getOptions().getSocketOptions().getConnectTimeout());
    return new LettuceNode(client, uri, getResources().eventExecutorGroup().next());
  }

  /**
   * Closes the channels itself: a loop that learns of its shutdown while it runs tasks ends without
   * closing them (netty 4.2), and a connection in the making would stay until this process ends.
   */
  @Override
  public void close() {
    all.close();
    ClientResources resources = getResources();
    resources.eventExecutorGroup().shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    resources.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
  }

  private static ClientOptions clientOptions(Duration connectTimeout, OpenSettings tls) {
    SslOptions.Builder ssl = SslOptions.builder().jdkSslProvider();
    tls.trustManagers().ifPresent(ssl::trustManager);
    tls.keyManagers().ifPresent(ssl::keyManager);
    return ClientOptions.builder()
        .autoReconnect(false)
        .sslOptions(ssl.build())
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
        // RESP2 says hello with PING or AUTH, for which no user lacks the right
        .protocolVersion(ProtocolVersion.RESP2)
        .pingBeforeActivateConnection(true)
        .maintNotificationsConfig(MaintNotificationsConfig.disabled())
        .timeoutOptions(TimeoutOptions.create())
        .useHashIndexQueue(false)
        .socketOptions(SocketOptions.builder().connectTimeout(connectTimeout).build())
        .build();
  }

  @Override
  protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
      RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
    if (codec != LettuceNode.CODEC) {
      return super.newStatefulRedisConnection(writer, pushes, codec, timeout);
    }
    return new StatefulRedisConnectionImpl<>(writer, pushes, codec, timeout) {
      @Override
      protected RedisAsyncCommandsImpl<K, V> newRedisAsyncCommandsImpl() {
        return null;
      }

      @Override
      protected RedisCommands<K, V> newRedisSyncCommandsImpl() {
        return null;
      }

      @Override
      protected RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
        return null;
      }
    };
  }

  @Override
  protected <K, V> StatefulRedisPubSubConnectionImpl<K, V> newStatefulRedisPubSubConnection(
      PubSubEndpoint<K, V> endpoint,
      RedisChannelWriter writer,
      RedisCodec<K, V> codec,
      Duration timeout) {
    if (codec != LettuceNode.CODEC) {
      return super.newStatefulRedisPubSubConnection(endpoint, writer, codec, timeout);
    }
    return new StatefulRedisPubSubConnectionImpl<>(endpoint, writer, codec, timeout) {
      @Override
      protected RedisPubSubAsyncCommandsImpl<K, V> newRedisAsyncCommandsImpl() {
        return null;
      }

      @Override
      protected RedisPubSubCommands<K, V> newRedisSyncCommandsImpl() {
        return null;
      }

      @Override
      protected RedisPubSubReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
        return null;
      }
    };
  }
}
