package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Nodes that are reached by connections of our own, all in one {@link IoLoop}.
 *
 * @param connectTimeout for how long each step of connecting may take
 */
record DirectNodes(
    List<Address> nodes,
    List<String> addresses,
    Duration connectTimeout,
    IoLoop loop,
    RedisConnections first,
    RedisConnections second)
    implements RedisNodes {
  /** Connects nothing yet. */
  static DirectNodes of(List<Address> given, Duration connectTimeout) {
    List<Address> nodes = List.copyOf(given);
    IoLoop loop = new IoLoop(2 * nodes.size());
    return new DirectNodes(
        nodes,
        nodes.stream().map(Address::toString).toList(),
        connectTimeout,
        loop,
        new DirectConnections(nodes, connectTimeout, loop, 0),
        new DirectConnections(nodes, connectTimeout, loop, nodes.size()));
  }

  @Override
  public boolean isTls(int node) {
    return nodes.get(node).isTls();
  }

  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return loop.lendThread(operation);
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    ClosableSocket socket = new ClosableSocket();
    JedisPubSubConnection.serve(
        subscription, () -> socket.connect(nodes.get(node), connectTimeout), socket::close);
  }

  @Override
  public void close() {
    loop.close();
  }
}
