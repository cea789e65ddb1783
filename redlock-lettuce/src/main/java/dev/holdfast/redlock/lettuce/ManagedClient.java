package dev.holdfast.redlock.lettuce;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.ThreadFactoryProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The client of a manager that was given none. All of its nodes share one event loop: a round's
 * votes are then counted without threads waking each other.
 */
final class ManagedClient implements AutoCloseable {
  private static final long SHUTDOWN_SECONDS = 2;

  private final EventLoopGroup loops;
  private final ClientResources resources;
  private final RedisClient client;

  /** All channels, also those that are being connected, which netty leaves open at times. */
  private final ChannelGroup channels;

  private ManagedClient(
      EventLoopGroup loops, ClientResources resources, RedisClient client, ChannelGroup channels) {
    this.loops = loops;
    this.resources = resources;
    this.client = client;
    this.channels = channels;
  }

  static ManagedClient start(Duration connectTimeout, SslOptions tls) {
    ThreadFactoryProvider threads = ManagedClient::threads;
    EventLoopGroupProvider provider = new DefaultEventLoopGroupProvider(1, threads);
    EventLoopGroup loops = provider.allocate(Transports.eventLoopGroupClass());
    ChannelGroup channels = new DefaultChannelGroup("holdfast", loops.next(), true);
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
                    channels.add(channel); // closed at once if the group is
                  }
                })
            .build();
    RedisClient client = new MinimalRedisClient(resources);
    client.setOptions(clientOptions(connectTimeout, tls));
    return new ManagedClient(loops, resources, client, channels);
  }

  /** Makes daemons of netty's, so that a JVM can exit, by names that an operator knows. */
  static ThreadFactory threads(String pool) {
    return new DefaultThreadFactory("holdfast-" + pool, true);
  }

  RedisClient client() {
    return client;
  }

  EventLoop eventLoop() {
    return loops.next();
  }

  /**
   * Closes the channels itself: a loop that learns of its shutdown while it runs tasks ends without
   * closing them (netty 4.2), and a connection in the making would stay until this process ends.
   */
  @Override
  public void close() {
    channels.close();
    loops.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    resources.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
  }

  private static ClientOptions clientOptions(Duration connectTimeout, SslOptions tls) {
    return ClientOptions.builder()
        .autoReconnect(false)
        .sslOptions(tls)
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
}
