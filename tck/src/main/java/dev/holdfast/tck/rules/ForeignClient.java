package dev.holdfast.tck.rules;

import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A client of another library: {@code SET key value NX PX ttl} on all nodes, and
 * compare-and-delete. One thread is its only user, and its time is never over, so that comparing
 * first and deleting then is as good as both in one.
 */
final class ForeignClient {
  private static final String VALUE = "1f0a2b3c-foreign";

  private final List<TckNode> nodes;

  ForeignClient(List<TckNode> nodes) {
    this.nodes = nodes;
  }

  /** Takes the lock, and returns on how many nodes it succeeded. */
  int take(String name, Duration ttl) {
    int taken = 0;
    for (TckNode node : nodes) {
      taken += node.occupyIfFree(name, VALUE, ttl) ? 1 : 0;
    }
    return taken;
  }

  /** Releases the lock, and returns on how many nodes it was held. */
  int release(String name) {
    int released = 0;
    for (TckNode node : nodes) {
      if (node.holder(name).equals(Optional.of(VALUE))) {
        node.remove(name);
        released++;
      }
    }
    return released;
  }
}
