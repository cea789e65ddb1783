package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Releases that a node did not answer because its connection broke. Whether the node executed them
 * is unknown, so they are sent once more when the node is back. They serve liveness only: a key
 * that is missed lives for its ttl at most, or for its hold if a release lengthened it. After this
 * time its release is dropped, too, although a node can take a lock later than that, on a
 * connection that hung.
 */
final class PendingReleases {
  /** Maximum number of releases pending at one node. Those that expire first are dropped first. */
  private static final int MAX_PER_NODE = 10_000;

  /** The order of expiry, also if the clock's nanoseconds overflow, and then of arrival. */
  private static final Comparator<Queued> BY_EXPIRY =
      (a, b) -> {
        int byExpiry = Long.signum(a.release().expiresAt() - b.release().expiresAt());
        return byExpiry != 0 ? byExpiry : Long.compare(a.number(), b.number());
      };

  private final Clock clock;
  private final AtomicLong arrivals = new AtomicLong();
  private final List<Queue<Queued>> byNode = new ArrayList<>();

  /**
   * One release.
   *
   * @param key the lock's key
   * @param token the value that the key must hold
   * @param remaining how long the lock still keeps other owners out
   * @param message the notification of waiters, empty without one
   * @param expiresAt when the key is gone at the latest
   */
  record Pending(
      String key, String token, RemainingLife remaining, List<String> message, long expiresAt) {}

  private record Queued(Pending release, long number) {}

  PendingReleases(Clock clock, int nodes) {
    this.clock = clock;
    for (int node = 0; node < nodes; node++) {
      byNode.add(new PriorityQueue<>(BY_EXPIRY));
    }
  }

  void add(int node, Pending release) {
    Queue<Queued> pending = byNode.get(node);
    long now = clock.nanos();
    synchronized (pending) {
      while (!pending.isEmpty()
          && (pending.size() >= MAX_PER_NODE
              || pending.element().release().expiresAt() - now < 0)) {
        pending.remove();
      }
      pending.add(new Queued(release, arrivals.getAndIncrement()));
    }
  }

  /** Removes the releases of a node, and returns those whose key may still be there. */
  List<Pending> take(int node) {
    Queue<Queued> pending = byNode.get(node);
    long now = clock.nanos();
    synchronized (pending) {
      List<Pending> taken =
          pending.stream()
              .sorted(BY_EXPIRY)
              .map(Queued::release)
              .filter(release -> release.expiresAt() - now > 0)
              .toList();
      pending.clear();
      return taken;
    }
  }
}
