package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the managers that use a network: each one when it connects, and each one less when it is
 * closed, whether it ever connected or not. With the last one all connections end.
 */
final class SharedMembers extends Members {
  private static final Map<Scheduler, Users> USERS = new ConcurrentHashMap<>();

  private record Users(AtomicInteger count, Queue<SharedMembers> all) {}

  private final Users users;
  private boolean isCounted;

  SharedMembers(List<Member> all, Scheduler network, Duration connectTimeout) {
    super(all, network, connectTimeout);
    users =
        USERS.computeIfAbsent(
            network, key -> new Users(new AtomicInteger(), new ConcurrentLinkedQueue<>()));
    users.all().add(this);
  }

  @Override
  synchronized CompletableFuture<Void> open() {
    if (!isCounted) {
      isCounted = true;
      users.count().incrementAndGet();
    }
    return super.open();
  }

  @Override
  void close() {
    if (users.count().decrementAndGet() <= 0) {
      users.all().forEach(SharedMembers::end);
    }
    end();
  }

  private void end() {
    super.close();
  }
}
