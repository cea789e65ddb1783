package dev.holdfast.drivertests;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.testnodes.TestNode;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;

/**
 * A driver's nodes without the algorithm above them, with their user's clients if there are any.
 */
public final class Driver implements AutoCloseable {
  private final RedisNodes nodes;
  private final Runnable closeClients;
  private final ToLongFunction<TestNode> connectionsInUse;

  /**
   * A driver that uses all connections that there are.
   *
   * @param closeClients closes its user's clients
   */
  public Driver(RedisNodes nodes, Runnable closeClients) {
    this(nodes, closeClients, Connections::to);
  }

  /**
   * A driver whose user's clients may hold connections that it does not use.
   *
   * @param closeClients closes its user's clients
   * @param connectionsInUse how many connections to a server the driver has
   */
  public Driver(
      RedisNodes nodes, Runnable closeClients, ToLongFunction<TestNode> connectionsInUse) {
    this.nodes = nodes;
    this.closeClients = closeClients;
    this.connectionsInUse = connectionsInUse;
  }

  /** Returns the nodes that the driver made. */
  public RedisNodes nodes() {
    return nodes;
  }

  /** Returns the first connections to the nodes. */
  public RedisConnections first() {
    return nodes.first();
  }

  /** Connects one node. The counter counts how often its connection has ended. */
  public AtomicInteger connect(int node) throws Exception {
    AtomicInteger ends = new AtomicInteger();
    connect(node, ends::incrementAndGet);
    return ends;
  }

  /** Makes the second connection to a node. The counter counts how often it has ended. */
  public AtomicInteger connectSecond(int node) throws Exception {
    AtomicInteger ends = new AtomicInteger();
    nodes.second().connect(node, ends::incrementAndGet).get(10, TimeUnit.SECONDS);
    return ends;
  }

  /** Connects one node, within 10 s, as does {@link RedisConnections#connect}. */
  public void connect(int node, Runnable disconnected) throws Exception {
    nodes.first().connect(node, disconnected).get(10, TimeUnit.SECONDS);
  }

  /** Opens a manager over the nodes, which closes them when it is closed. */
  LockManager open(RedlockOptions options) {
    return Redlock.open(nodes, options);
  }

  /** How many connections to a server the driver has. */
  long connectionsInUse(TestNode server) {
    return connectionsInUse.applyAsLong(server);
  }

  @Override
  public void close() {
    nodes.close();
    closeClients.run();
  }
}
