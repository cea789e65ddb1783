package dev.holdfast.redlock.redisson;

import dev.holdfast.spi.LockUrl;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.redisson.client.RedisClientConfig;
import org.redisson.misc.RedisURI;

/**
 * What the nodes share that were given without a client. All of them have one event loop: a round's
 * votes are then counted without threads waking each other.
 */
final class OwnClients implements AutoCloseable {
  private static final long SHUTDOWN_SECONDS = 2;
  private static final long WARM_UP_SECONDS = 10;
  private static final Duration WARM_UP = Duration.ofSeconds(WARM_UP_SECONDS);

  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(1, named("io"), NioIoHandler.newFactory());
  private final Timer timer = new HashedWheelTimer(named("timer"));
  private final AddressResolverGroup<InetSocketAddress> names =
      new DnsAddressResolverGroup(
          NioDatagramChannel.class, DnsServerAddressStreamProviders.platformDefault());

  private OwnClients() {}

  /**
   * Loads what connecting needs before the time for connecting runs: on a busy machine that takes
   * longer than most networks. Nothing can be connected at port 0, and no packet is sent.
   */
  static OwnClients start() {
    OwnClients clients = new OwnClients();
    Server nowhere = clients.server(URI.create("redis://127.0.0.1:0"));
    await(
        WARM_UP_SECONDS,
        Attempts.client(nowhere, WARM_UP, begun -> {}).connectAsync().toCompletableFuture());
    return clients;
  }

  /**
   * A node.
   *
   * @param uri one of {@link LockUrl#nodes}
   */
  Server server(URI uri) {
    return new Server(
        LockUrl.describe(uri), uri.getScheme().equals("rediss"), () -> config(uri), null);
  }

  @Override
  public void close() {
    names.close();
    timer.stop();
    await(SHUTDOWN_SECONDS, loop.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS));
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
    return new RedisClientConfig()
        .setAddress(address)
        .setGroup(loop)
        .setExecutor(loop)
        .setTimer(timer)
        .setResolverGroup(names)
        .setKeepAlive(true);
  }

  /** Waits for what is better over, but need not be: at most for so long, or until interrupted. */
  static void await(long seconds, Future<?> future) {
    try {
      future.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // whoever needs the outcome looks for it elsewhere
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Daemons, so that a JVM can exit, by names that an operator knows. */
  private static ThreadFactory named(String pool) {
    return new DefaultThreadFactory("holdfast-redisson-" + pool, true);
  }
}
