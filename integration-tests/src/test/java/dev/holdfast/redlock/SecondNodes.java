package dev.holdfast.redlock;

import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.util.concurrent.CompletableFuture;

/** The second connections of a driver, as nodes that a broken driver can be made of. */
final class SecondNodes extends PassingNodes {
  SecondNodes(RedisNodes nodes) {
    super(nodes);
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    return nodes.second().connect(node, disconnected);
  }

  @Override
  public void disconnect(int node) {
    nodes.second().disconnect(node);
  }

  @Override
  public void submit(Round round) {
    nodes.second().submit(round);
  }

  /** Does nothing: the nodes are closed by their driver. */
  @Override
  public void close() {}
}
