package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Releases that a node did not answer because its connection broke: whether they were carried out
 * nobody knows, so they are sent once more when the node is back. Needed for liveness only: a key
 * that is missed lives for its ttl at most, and after the longest ttl its release is forgotten too,
 * though a node can take a lock later than that, on a connection that hung.
 */
final class OwedReleases {
  /** What a node is owed at most; the oldest expire first anyway. */
  private static final int MOST_PER_NODE = 10_000;

  private final Clock clock;
  private final List<Deque<Owed>> owed = new ArrayList<>();

  /**
   * One release.
   *
   * @param key the lock's key
   * @param token what it must hold
   * @param keepUntil until when others are kept out, by the clock's nanoseconds
   * @param expiresAt when the key is gone at the latest
   */
  record Owed(String key, String token, long keepUntil, long expiresAt) {}

  OwedReleases(Clock clock, int nodes) {
    this.clock = clock;
    for (int node = 0; node < nodes; node++) {
      owed.add(new ArrayDeque<>());
    }
  }

  void add(int node, Owed release) {
    Deque<Owed> ofNode = owed.get(node);
    long now = clock.nanos();
    synchronized (ofNode) {
      while (!ofNode.isEmpty()
          && (ofNode.size() >= MOST_PER_NODE || ofNode.getFirst().expiresAt() - now < 0)) {
        ofNode.removeFirst();
      }
      ofNode.addLast(release);
    }
  }

  /** Takes what is still of use. */
  List<Owed> take(int node) {
    Deque<Owed> ofNode = owed.get(node);
    long now = clock.nanos();
    synchronized (ofNode) {
      List<Owed> taken = ofNode.stream().filter(o -> o.expiresAt() - now > 0).toList();
      ofNode.clear();
      return taken;
    }
  }
}
