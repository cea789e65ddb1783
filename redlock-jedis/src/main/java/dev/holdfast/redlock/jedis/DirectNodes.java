package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Nodes that are reached by connections of our own, all in one {@link IoLoop}. */
final class DirectNodes implements RedisNodes {
  private final List<String> addresses;
  private final IoLoop loop;
  private final DirectConnections first;
  private final DirectConnections second;

  /**
   * Connects nothing yet.
   *
   * @param connectTimeout for how long each step of connecting may take
   */
  DirectNodes(List<Address> nodes, Duration connectTimeout) {
    List<Address> copy = List.copyOf(nodes);
    this.addresses = copy.stream().map(Address::toString).toList();
    this.loop = new IoLoop(2 * copy.size());
    this.first = new DirectConnections(copy, connectTimeout, loop, 0);
    this.second = new DirectConnections(copy, connectTimeout, loop, copy.size());
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public boolean isTls(int node) {
    return first.nodes().get(node).isTls();
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    return first.connect(node, disconnected);
  }

  @Override
  public void disconnect(int node) {
    first.disconnect(node);
  }

  @Override
  public void submit(Round round) {
    first.submit(round);
  }

  @Override
  public RedisConnections second() {
    return second;
  }

  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return loop.lendThread(operation);
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    ClosableSocket socket = new ClosableSocket();
    JedisPubSubConnection.serve(
        subscription,
        () -> socket.connect(first.nodes().get(node), first.connectTimeout()),
        socket::close);
  }

  @Override
  public void close() {
    loop.close();
  }
}
