package dev.holdfast.redlock.redisson;

import dev.holdfast.spi.LockUrl;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RedissonClient;
import org.redisson.client.DefaultNettyHook;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisClientConfig;
import org.redisson.client.handler.ErrorsLoggingHandler;
import org.redisson.config.ConstantDelay;
import org.redisson.misc.RedisURI;

/**
 * What the nodes share that were given without a client. All of them have one event loop: a round's
 * votes are then counted without threads waking each other.
 */
final class OwnClients implements AutoCloseable {
  private static final long SHUTDOWN_SECONDS = 2;
  private static final long WARM_UP_SECONDS = 10;

  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(1, Threads.named("io"), NioIoHandler.newFactory());
  private final Timer timer = new HashedWheelTimer(Threads.named("timer"));
  private final AddressResolverGroup<InetSocketAddress> names =
      new DnsAddressResolverGroup(
          NioDatagramChannel.class, DnsServerAddressStreamProviders.platformDefault());
  private final Duration connectTimeout;

  private OwnClients(Duration connectTimeout) {
    this.connectTimeout = connectTimeout;
  }

  /**
   * Loads what connecting needs before the time for connecting runs: on a busy machine that takes
   * longer than most networks. Nothing can be connected at port 0, and no packet is sent.
   */
  static OwnClients start(Duration connectTimeout) {
    OwnClients clients = new OwnClients(connectTimeout);
    RedisClientConfig nowhere = clients.config(new RedisURI("redis", "127.0.0.1", 0));
    Waiting.atMost(
        WARM_UP_SECONDS, RedisClient.create(nowhere).connectAsync().toCompletableFuture());
    return clients;
  }

  /**
   * A node.
   *
   * @param uri one of {@link LockUrl#nodes}
   */
  Server server(URI uri) {
    RedisClientConfig config = config(uri);
    return new Server() {
      @Override
      public String address() {
        return LockUrl.describe(uri);
      }

      @Override
      public RedisClient newClient() {
        return RedisClient.create(config);
      }

      @Override
      public Optional<RedissonClient> yours() {
        return Optional.empty();
      }
    };
  }

  @Override
  public void close() {
    names.close();
    timer.stop();
    Waiting.atMost(
        SHUTDOWN_SECONDS, loop.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS));
  }

  private RedisClientConfig config(URI uri) {
    String host = uri.getHost();
    if (host.startsWith("[")) {
      host = host.substring(1, host.length() - 1);
    }
    RedisClientConfig config = config(new RedisURI(uri.getScheme(), host, uri.getPort()));
    String path = uri.getPath();
    if (path != null && path.length() > 1) {
      config.setDatabase(Integer.parseInt(path.substring(1)));
    }
    String userInfo = uri.getUserInfo();
    if (userInfo != null) {
      int colon = userInfo.indexOf(':');
      String user = colon < 0 ? userInfo : userInfo.substring(0, colon);
      config.setUsername(user.isEmpty() ? null : user);
      config.setPassword(colon < 0 ? "" : userInfo.substring(colon + 1));
    }
    return config;
  }

  private RedisClientConfig config(RedisURI address) {
    int millis = (int) Math.min(Integer.MAX_VALUE, Math.max(1, connectTimeout.toMillis()));
    return new RedisClientConfig()
        .setAddress(address)
        .setGroup(loop)
        .setExecutor(loop)
        .setTimer(timer)
        .setResolverGroup(names)
        .setConnectTimeout(millis)
        .setCommandTimeout(millis)
        .setTcpNoDelay(true)
        .setKeepAlive(true)
        // longer than a handshake may take: only those that fail would be reconnected, by nobody
        .setReconnectionDelay(new ConstantDelay(connectTimeout.multipliedBy(2)))
        .setNettyHook(new QuietHook());
  }

  /** What fails on a connection ends it, and is said once, by the manager. */
  private static final class QuietHook extends DefaultNettyHook {
    @Override
    public void afterChannelInitialization(Channel channel) {
      channel
          .pipeline()
          .replace(
              ErrorsLoggingHandler.class,
              "holdfast-errors",
              new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                  context.close();
                }
              });
    }
  }
}
