package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Nodes that are reached by connections of our own, all in one {@link IoLoop}. */
final class DirectNodes implements RedisNodes {
  private final List<Address> nodes;
  private final List<String> addresses;
  private final Duration connectTimeout;
  private final IoLoop loop;

  /**
   * Connects nothing yet.
   *
   * @param connectTimeout for how long each step of connecting may take
   */
  DirectNodes(List<Address> nodes, Duration connectTimeout) {
    this.nodes = List.copyOf(nodes);
    this.addresses = nodes.stream().map(Address::toString).toList();
    this.connectTimeout = connectTimeout;
    this.loop = new IoLoop(2 * nodes.size());
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public boolean isTls(int node) {
    return at(node).isTls();
  }

  /**
   * Connects on a thread of its own, which ends when the node has answered or connecting has
   * failed.
   */
  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    SocketConnection socket = new SocketConnection(node, () -> loop.ended(disconnected));
    loop.put(node, socket);
    DriverThreads.named("holdfast-jedis-connect")
        .newThread(() -> socket.connect(at(node), connectTimeout))
        .start();
    return socket.connected();
  }

  @Override
  public void disconnect(int node) {
    loop.drop(node);
  }

  @Override
  public void submit(Round round) {
    loop.submit(round);
  }

  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return loop.lendThread(operation);
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    ClosableSocket socket = new ClosableSocket();
    JedisPubSubConnection.serve(
        subscription, () -> socket.connect(at(node), connectTimeout), socket::close);
  }

  @Override
  public void close() {
    loop.close();
  }

  private Address at(int index) {
    return nodes.get(index % nodes.size());
  }
}
