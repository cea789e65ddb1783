package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.Round;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One connection of our own to each node.
 *
 * @param connectTimeout for how long each step of connecting may take
 * @param firstSlot the slot in the loop of the connection to node 0, before the others
 */
record DirectConnections(List<Address> nodes, Duration connectTimeout, IoLoop loop, int firstSlot)
    implements RedisConnections {
  /**
   * Connects on a thread of its own, which ends when the node has answered or connecting has
   * failed.
   */
  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    SocketConnection socket = new SocketConnection(node, () -> loop.ended(disconnected));
    loop.put(firstSlot + node, socket);
    DriverThreads.named("holdfast-jedis-connect")
        .newThread(() -> socket.connect(nodes.get(node), connectTimeout))
        .start();
    return socket.connected();
  }

  @Override
  public void disconnect(int node) {
    loop.drop(firstSlot + node);
  }

  @Override
  public void submit(Round round) {
    loop.submit(round, firstSlot);
  }
}
