package dev.holdfast.redlock.internal.lock;

import dev.holdfast.core.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Releases that a node did not answer because its connection broke. Whether the node executed them
 * is unknown, so they are sent once more when the node is back. They serve liveness only: a key
 * that is missed lives for its ttl at most. After the longest ttl its release is dropped, too,
 * although a node can take a lock later than that, on a connection that hung.
 */
final class PendingReleases {
  /** Maximum number of releases pending at one node. The oldest are dropped first. */
  private static final int MAX_PER_NODE = 10_000;

  private final Clock clock;
  private final List<Deque<Pending>> byNode = new ArrayList<>();

  /**
   * One release.
   *
   * @param key the lock's key
   * @param token the value that the key must hold
   * @param kept how long other owners are kept out
   * @param expiresAt when the key is gone at the latest
   */
  record Pending(String key, String token, KeptLife kept, long expiresAt) {}

  PendingReleases(Clock clock, int nodes) {
    this.clock = clock;
    for (int node = 0; node < nodes; node++) {
      byNode.add(new ArrayDeque<>());
    }
  }

  void add(int node, Pending release) {
    Deque<Pending> pending = byNode.get(node);
    long now = clock.nanos();
    synchronized (pending) {
      while (!pending.isEmpty()
          && (pending.size() >= MAX_PER_NODE || pending.getFirst().expiresAt() - now < 0)) {
        pending.removeFirst();
      }
      pending.addLast(release);
    }
  }

  /** Removes the releases of a node, and returns those whose key may still be there. */
  List<Pending> take(int node) {
    Deque<Pending> pending = byNode.get(node);
    long now = clock.nanos();
    synchronized (pending) {
      List<Pending> taken = pending.stream().filter(p -> p.expiresAt() - now > 0).toList();
      pending.clear();
      return taken;
    }
  }
}
