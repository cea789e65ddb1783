package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's own locks. */
final class RedissonLocks implements Contestant {
  /** Until Redisson's threads have ended. Its default waits for more work for 2 s. */
  private static final Duration QUIET = Duration.ZERO;

  private static final Duration END_LIMIT = Duration.ofSeconds(5);

  private final List<RedissonClient> clients;
  private final Function<String, RLock> locks;

  private RedissonLocks(
      List<String> uris, Function<List<RedissonClient>, Function<String, RLock>> locks) {
    clients = uris.stream().map(RedissonLocks::client).toList();
    this.locks = locks.apply(clients);
  }

  /** Returns a contestant for a lock that uses one server. */
  static Contestant single(List<String> uris, BiFunction<RedissonClient, String, RLock> lock) {
    return new RedissonLocks(uris, clients -> name -> lock.apply(clients.get(0), name));
  }

  /**
   * Returns Redisson's Redlock. It is deprecated, but it is Redisson's only lock over several
   * servers.
   */
  @SuppressWarnings("deprecation")
  static Contestant redlock(List<String> uris) {
    return new RedissonLocks(
        uris,
        clients ->
            name ->
                new RedissonRedLock(
                    clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new)));
  }

  private static RedissonClient client(String uri) {
    Config config = new Config();
    config
        .useSingleServer()
        .setAddress(uri)
        .setConnectionPoolSize(Terms.POOL)
        .setConnectionMinimumIdleSize(Terms.POOL);
    return Redisson.create(config);
  }

  @Override
  public boolean locked(String name, Runnable work) throws InterruptedException {
    RLock lock = locks.apply(name);
    if (!lock.tryLock(Terms.WAIT.toMillis(), Terms.TTL.toMillis(), TimeUnit.MILLISECONDS)) {
      return false;
    }
    try {
      work.run();
    } finally {
      lock.unlock();
    }
    return true;
  }

  @Override
  public boolean keep(String name) throws InterruptedException {
    // Without a ttl of ours it is renewed, and has that of Redisson's watchdog, which is 30 s, too.
    return locks.apply(name).tryLock(Terms.WAIT.toMillis(), -1, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    clients.forEach(
        client -> client.shutdown(QUIET.toMillis(), END_LIMIT.toMillis(), TimeUnit.MILLISECONDS));
  }
}
