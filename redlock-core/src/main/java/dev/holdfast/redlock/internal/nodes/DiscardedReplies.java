package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.redlock.spi.Round;
import org.jspecify.annotations.Nullable;

/**
 * Discards the answers to commands that expect none. They show that a node is there.
 *
 * @param sentIn the epoch in which the commands are sent
 */
public record DiscardedReplies(NodeConnections connections, int sentIn) implements Round.Answers {
  @Override
  public void reply(int node, @Nullable Object reply) {
    connections.onAnswered(node);
  }

  @Override
  public void error(int node, String error) {
    connections.onAnswered(node);
  }

  @Override
  public void failure(int node, Throwable cause) {
    connections.onFailed(node, sentIn);
  }

  @Override
  public boolean isDecided() {
    return true;
  }
}
