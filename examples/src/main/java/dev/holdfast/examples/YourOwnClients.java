package dev.holdfast.examples;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.jedis.JedisRedlock;
import dev.holdfast.redlock.lettuce.LettuceRedlock;
import dev.holdfast.redlock.redisson.RedissonRedlock;
import io.lettuce.core.RedisURI;
import java.util.List;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** Managers over the clients that an application has already, and goes on owning. */
final class YourOwnClients {
  private YourOwnClients() {}

  /** Jedis: one client, so one pool, for each master. */
  static LockManager jedis(List<RedisClient> clients, List<HostAndPort> servers) {
    JedisRedlock.Builder redlock = JedisRedlock.builder();
    for (int node = 0; node < clients.size(); node++) {
      redlock.client(clients.get(node), servers.get(node));
    }
    return redlock.open();
  }

  /**
   * Lettuce: one client may serve all masters.
   *
   * @param client with {@code autoReconnect(false)} or {@code REJECT_COMMANDS} in its options
   */
  static LockManager lettuce(io.lettuce.core.RedisClient client, List<RedisURI> servers) {
    LettuceRedlock.Builder redlock = LettuceRedlock.builder();
    servers.forEach(server -> redlock.client(client, server));
    return redlock.open();
  }

  /** Redisson: one client for each master, set up with {@code useSingleServer()}. */
  static LockManager redisson(List<RedissonClient> clients) {
    RedissonRedlock.Builder redlock = RedissonRedlock.builder();
    clients.forEach(redlock::client);
    return redlock.open();
  }
}
