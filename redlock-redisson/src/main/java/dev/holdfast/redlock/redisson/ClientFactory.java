package dev.holdfast.redlock.redisson;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.function.Consumer;
import org.redisson.client.NettyHook;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisClientConfig;

/** Clients for one attempt to connect each, so that each attempt looks the node's name up again. */
final class ClientFactory {
  private ClientFactory() {}

  /**
   * The client need not be closed: it has no threads, and its connection is closed by itself.
   *
   * @param begun gets the channel as soon as there is one, with all of Redisson's handlers
   */
  static RedisClient client(Server server, Duration connectTimeout, Consumer<Channel> begun) {
    int millis = (int) Math.min(Integer.MAX_VALUE, Math.max(1, connectTimeout.toMillis()));
    RedisClientConfig config = server.config().get();
    return RedisClient.create(
        config
            .setConnectTimeout(millis)
            .setCommandTimeout(millis)
            .setTcpNoDelay(true)
            .setPingConnectionInterval(0) // who is silent for too long is known above
            .setNettyHook(new Hook(config.getNettyHook(), begun)));
  }

  /** After the user's own hook, if there is one. */
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
}
