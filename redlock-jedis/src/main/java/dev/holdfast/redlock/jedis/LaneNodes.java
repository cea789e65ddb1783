package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.Round;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Nodes that are reached by connections of our own, all in one {@link Lane}. */
final class LaneNodes implements RedisNodes {
  private static final long IDLE_CONNECTOR_SECONDS = 2;

  private final List<Address> nodes;
  private final List<String> addresses;
  private final Duration connectTimeout;
  private final Duration nodeTimeout;
  private final Lane lane;

  /** Of threads that connect: at most one for each node and attempt, for the time-out's length. */
  private final ExecutorService connectors =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_CONNECTOR_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          Threads.named("connect"));

  /**
   * Connects nothing yet.
   *
   * @param connectTimeout for how long each step of connecting may take
   * @param nodeTimeout for how long a reply that has begun may take to be complete
   */
  LaneNodes(List<Address> nodes, Duration connectTimeout, Duration nodeTimeout) {
    this.nodes = List.copyOf(nodes);
    this.addresses = nodes.stream().map(Address::toString).toList();
    this.connectTimeout = connectTimeout;
    this.nodeTimeout = nodeTimeout;
    this.lane = new Lane(2 * nodes.size());
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
  public CompletionStage<Void> connect(int node, Runnable disconnected) {
    Wire wire = new Wire(node, () -> lane.ended(disconnected));
    lane.put(node, wire);
    if (lane.isClosing()) {
      wire.drop();
    }
    Address address = nodes.get(node % nodes.size());
    try {
      connectors.execute(() -> wire.connect(address, connectTimeout, nodeTimeout));
    } catch (RejectedExecutionException e) {
      wire.connected().completeExceptionally(new JedisConnectionException("closed", e));
    }
    return wire.connected();
  }

  @Override
  public void disconnect(int node) {
    lane.drop(node);
  }

  @Override
  public void submit(Round round) {
    lane.submit(round);
  }

  @Override
  public Ear listen(int node, String channel, Heard heard, Runnable ended) {
    Address address = nodes.get(node);
    return NodeEar.open(() -> listening(address), channel, heard, ended);
  }

  private Connection listening(Address address) {
    Connection connection = new Connection(address.server(), address.config(connectTimeout));
    connection.connect();
    return connection;
  }

  @Override
  public void close() {
    connectors.shutdown();
    lane.close();
  }
}
