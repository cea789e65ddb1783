package dev.holdfast.tck.broken;

import java.time.Duration;

/**
 * How long nodes are waited for.
 *
 * @param node how long the last ones are, once a quorum has answered
 * @param quorum how long a quorum of answers is
 */
record Timeouts(Duration node, Duration quorum) {
  Timeouts {
    quorum = quorum.compareTo(node) < 0 ? node : quorum;
  }

  /** No longer than what is left of something, if that is less. */
  Timeouts within(Duration left) {
    Duration shorter = quorum.compareTo(left) < 0 ? quorum : left;
    return new Timeouts(node.compareTo(shorter) < 0 ? node : shorter, shorter);
  }

  /** One timeout for both, as it must not be. */
  static Timeouts both(Duration both) {
    return new Timeouts(both, both);
  }
}
