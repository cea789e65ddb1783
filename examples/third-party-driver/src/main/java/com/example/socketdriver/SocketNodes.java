package com.example.socketdriver;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The nodes, each reached by a socket of its own. */
final class SocketNodes implements RedisNodes {
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private final List<RedisNodeUri> nodes;
  private final Duration connectTimeout;

  /** The latest connection of each index: two to a node, as the port says. */
  private final AtomicReferenceArray<SocketConnection> connections;

  private volatile boolean closed;

  SocketNodes(List<RedisNodeUri> nodes, Duration connectTimeout) {
    for (RedisNodeUri node : nodes) {
      if (node.isTls()) {
        throw new LockConfigurationException(
            "this driver knows redis:// alone: use another driver for " + node);
      }
    }
    this.nodes = nodes;
    this.connectTimeout = connectTimeout;
    this.connections = new AtomicReferenceArray<>(2 * nodes.size());
  }

  @Override
  public List<String> addresses() {
    return nodes.stream().map(RedisNodeUri::server).toList();
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    RedisNodeUri uri = nodes.get(node % nodes.size());
    SocketConnection connection = new SocketConnection(node, uri, disconnected);
    connections.set(node, connection);
    if (closed) {
      connection.end(new IOException("the manager was closed"));
    }
    return connection.begin(connectTimeout);
  }

  @Override
  public void disconnect(int node) {
    SocketConnection connection = connections.get(node);
    if (connection != null) {
      connection.end(new IOException("the connection was dropped"));
    }
  }

  @Override
  public void submit(Round round) {
    round.forEachNode(
        node -> {
          SocketConnection connection = connections.get(node);
          if (connection == null) {
            round.failure(node, new IOException("not connected"));
          } else {
            connection.ask(round);
          }
        });
  }

  /** Sends what was asked before, such as releases, within a second. */
  @Override
  public void close() {
    closed = true; // first: who connects looks after it can be found here
    List<CompletableFuture<?>> closing = new ArrayList<>();
    for (int node = 0; node < connections.length(); node++) {
      SocketConnection connection = connections.get(node);
      if (connection != null) {
        closing.add(connection.close());
      }
    }
    DriverThreads.await(CLOSE, CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new)));
    for (int node = 0; node < connections.length(); node++) {
      disconnect(node); // also one whose node reads nothing
    }
  }
}
