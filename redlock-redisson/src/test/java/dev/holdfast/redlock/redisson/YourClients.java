package dev.holdfast.redlock.redisson;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Clients as users have them, but with few threads. */
final class YourClients {
  private YourClients() {}

  /** Returns a client whose pool is connected. */
  static RedissonClient connected(String uri) {
    return Redisson.create(config(uri));
  }

  /** Returns a client whose pool is not connected until the client itself is used. */
  static RedissonClient lazy(String uri, Consumer<Config> changes) {
    Config config = config(uri).setLazyInitialization(true);
    changes.accept(config);
    return Redisson.create(config);
  }

  static Config config(String uri) {
    Config config = new Config().setThreads(2).setNettyThreads(2);
    config.useSingleServer().setAddress(uri).setConnectionMinimumIdleSize(1);
    return config;
  }

  static void shutdown(RedissonClient client) {
    client.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
