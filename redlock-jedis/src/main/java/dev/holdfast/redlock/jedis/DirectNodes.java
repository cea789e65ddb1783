package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Nodes that are reached by connections of our own, all in one {@link IoLoop}. */
final class DirectNodes implements RedisNodes {
  private static final long IDLE_CONNECTOR_SECONDS = 2;

  private final List<Address> nodes;
  private final List<String> addresses;
  private final Duration connectTimeout;
  private final Duration nodeTimeout;
  private final IoLoop loop;

  /** The threads that connect: at most one for each node and attempt, for the timeout's length. */
  private final ExecutorService connectors =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_CONNECTOR_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          DriverThreads.named("holdfast-jedis-connect"));

  /**
   * Connects nothing yet.
   *
   * @param connectTimeout for how long each step of connecting may take
   * @param nodeTimeout for how long a reply that has begun may take to be complete
   */
  DirectNodes(List<Address> nodes, Duration connectTimeout, Duration nodeTimeout) {
    this.nodes = List.copyOf(nodes);
    this.addresses = nodes.stream().map(Address::toString).toList();
    this.connectTimeout = connectTimeout;
    this.nodeTimeout = nodeTimeout;
    this.loop = new IoLoop(2 * nodes.size());
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public boolean isTls(int node) {
    return nodes.get(node % nodes.size()).isTls();
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    SocketConnection socket = new SocketConnection(node, () -> loop.ended(disconnected));
    loop.put(node, socket);
    if (loop.isClosing()) {
      socket.drop();
    }
    Address address = nodes.get(node % nodes.size());
    try {
      connectors.execute(() -> socket.connect(address, connectTimeout, nodeTimeout));
    } catch (RejectedExecutionException e) {
      socket.connected().completeExceptionally(new JedisConnectionException("closed", e));
    }
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
    JedisPubSubConnection.serve(subscription, () -> listening(nodes.get(node)));
  }

  private Connection listening(Address address) {
    Connection connection = new Connection(address.server(), address.config(connectTimeout));
    connection.connect();
    return connection;
  }

  @Override
  public void close() {
    connectors.shutdown();
    loop.close();
  }
}
