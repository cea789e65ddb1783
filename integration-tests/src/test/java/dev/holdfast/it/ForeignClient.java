package dev.holdfast.it;

import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A Redlock client as other languages have it, with nothing of ours in it: {@code SET NX PX} on
 * every node, compare-and-delete, a majority. For one thread.
 */
final class ForeignClient implements AutoCloseable {
  private static final String COMPARE_AND_DELETE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1])"
          + " else return 0 end";

  private final List<RawRedis> connections;
  private final String value = UUID.randomUUID().toString();

  ForeignClient(List<TestNode> nodes) {
    connections = nodes.stream().map(node -> RawRedis.connect(node.host(), node.port())).toList();
  }

  String value() {
    return value;
  }

  boolean tryLock(String name, Duration ttl) {
    String millis = Long.toString(ttl.toMillis());
    long votes =
        connections.stream()
            .filter(c -> "OK".equals(c.call("SET", name, value, "NX", "PX", millis)))
            .count();
    if (votes > connections.size() / 2) {
      return true;
    }
    unlock(name);
    return false;
  }

  void lock(String name, Duration ttl) {
    while (!tryLock(name, ttl)) {
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(1_000_000, 10_000_000));
    }
  }

  /** Unlocks, and returns on how many nodes it held the lock until now. */
  int unlock(String name) {
    return (int)
        connections.stream()
            .filter(
                c -> Long.valueOf(1).equals(c.call("EVAL", COMPARE_AND_DELETE, "1", name, value)))
            .count();
  }

  @Override
  public void close() {
    connections.forEach(RawRedis::close);
  }
}
