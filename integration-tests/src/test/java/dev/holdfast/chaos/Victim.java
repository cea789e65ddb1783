package dev.holdfast.chaos;

import dev.holdfast.it.ClockShim;
import dev.holdfast.testnodes.NodeException;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.TestNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * A node that something is done to, and the way to it.
 *
 * @param clock the file of its clock's error, if there is a {@link ClockShim}
 */
record Victim(TestNode node, NodeNetwork proxy, Path clock, RandomGenerator random) {
  private static final Duration NO_WAIT = Duration.ofMillis(50);

  /** Sends a command that keeps the node from answering, and does not wait for its end. */
  void stall(String... command) {
    try (RawRedis connection = RawRedis.connect(node.host(), node.port(), NO_WAIT)) {
      connection.call(command);
    } catch (NodeException e) {
      // no answer: that is the point
    }
  }

  RawRedis connect() {
    return RawRedis.connect(node.host(), node.port());
  }

  /** From 1 to the limit. */
  int upTo(int limit) {
    return random.nextInt(1, limit + 1);
  }
}
