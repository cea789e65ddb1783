package dev.holdfast.redlock.redisson;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.spi.OpenSettings;
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
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisClientConfig;
import org.redisson.misc.RedisURI;

/**
 * The clients of nodes that the user gave without a client. All of them have one event loop: a
 * round's votes are then counted without threads waking each other.
 */
final class ManagedClients implements AutoCloseable {
  private static final long SHUTDOWN_SECONDS = 2;
  private static final RedisNodeUri NOWHERE =
      new RedisNodeUri(false, "127.0.0.1", 0, 0, null, null);

  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(1, named("io"), NioIoHandler.newFactory());
  private final Timer timer = new HashedWheelTimer(named("timer"));
  private final AddressResolverGroup<InetSocketAddress> names =
      new DnsAddressResolverGroup(
          NioDatagramChannel.class, DnsServerAddressStreamProviders.platformDefault());

  private final OpenSettings tls;
  private boolean warm;

  /**
   * Starts nothing yet.
   *
   * @param tls of which the trust and key managers are used
   */
  ManagedClients(OpenSettings tls) {
    this.tls = tls;
  }

  /** Makes a node that is not connected, and loads the classes that connecting needs, once. */
  RedissonNode node(RedisNodeUri uri, Duration connectTimeout) {
    if (!warm) {
      warm = true;
      DriverThreads.warmUp(() -> RedisClient.create(config(NOWHERE)).connectAsync());
    }
    return new RedissonNode(uri.address(), uri.isTls(), () -> config(uri), null, connectTimeout);
  }

  @Override
  public void close() {
    names.close();
    timer.stop();
    DriverThreads.await(
        Duration.ofSeconds(SHUTDOWN_SECONDS),
        loop.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS));
  }

  private RedisClientConfig config(RedisNodeUri node) {
    RedisClientConfig config =
        new RedisClientConfig()
            .setAddress(new RedisURI(node.isTls() ? "rediss" : "redis", node.host(), node.port()))
            .setDatabase(node.database())
            .setGroup(loop)
            .setExecutor(loop)
            .setTimer(timer)
            .setResolverGroup(names)
            .setKeepAlive(true);
    tls.trustManagers().ifPresent(config::setSslTrustManagerFactory);
    tls.keyManagers().ifPresent(config::setSslKeyManagerFactory);
    if (node.password() != null) {
      config.setUsername(node.user()).setPassword(node.password());
    }
    return config;
  }

  /** Daemons, so that a JVM can exit, by names that an operator knows. */
  private static ThreadFactory named(String pool) {
    return new DefaultThreadFactory("holdfast-redisson-" + pool, true);
  }
}
