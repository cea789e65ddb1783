package dev.holdfast.benchmarks.peers;

import dev.holdfast.benchmarks.Contestant;
import dev.holdfast.benchmarks.Polling;
import dev.holdfast.benchmarks.Terms;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** ShedLock on one server, by its Spring provider. It knows no waiting: it is polled. */
final class ShedLocks implements Contestant {
  private final LettuceConnectionFactory connections;
  private final LockProvider locks;

  ShedLocks(List<String> uris) {
    connections = Connections.to(uris);
    locks = new RedisLockProvider(connections);
  }

  @Override
  public boolean locked(String name, Runnable work) throws Exception {
    Attempts attempts = new Attempts(name);
    if (!Polling.until(attempts)) {
      return false;
    }
    work.run();
    attempts.lock.ifPresent(SimpleLock::unlock);
    return true;
  }

  private final class Attempts implements Polling.Attempt {
    private final String name;
    private Optional<SimpleLock> lock = Optional.empty();

    Attempts(String name) {
      this.name = name;
    }

    @Override
    public boolean isGranted() {
      lock = locks.lock(new LockConfiguration(Instant.now(), name, Terms.TTL, Duration.ZERO));
      return lock.isPresent();
    }
  }

  @Override
  public void close() {
    connections.destroy();
  }
}
