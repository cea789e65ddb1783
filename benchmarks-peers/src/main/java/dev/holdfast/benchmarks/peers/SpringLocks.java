package dev.holdfast.benchmarks.peers;

import dev.holdfast.benchmarks.Contestant;
import dev.holdfast.benchmarks.Terms;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Integration's registry of locks, on one server. */
final class SpringLocks implements Contestant {
  private final LettuceConnectionFactory connections;
  private final RedisLockRegistry registry;

  SpringLocks(List<String> uris, RedisLockType type) {
    connections = Connections.to(uris);
    registry = new RedisLockRegistry(connections, "spring-" + type, Terms.TTL);
    registry.setRedisLockType(type);
  }

  @Override
  public boolean locked(String name, Runnable work) throws InterruptedException {
    Lock lock = registry.obtain(name);
    if (!lock.tryLock(Terms.WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
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
  public void close() {
    registry.destroy();
    connections.destroy();
  }
}
