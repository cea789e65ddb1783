package com.example.socketdriver;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redlock.RedisNodes;
import dev.holdfast.redlock.Round;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The nodes, each reached by a socket of its own. */
final class SocketNodes implements RedisNodes {
  private static final int DEFAULT_PORT = 6379;
  private static final long CLOSE_NANOS = 1_000_000_000;

  private final List<URI> nodes;
  private final Duration connectTimeout;

  /** The latest connection of each index: two to a node, as the port says. */
  private final AtomicReferenceArray<SocketConnection> connections;

  private volatile boolean closed;

  SocketNodes(List<URI> nodes, Duration connectTimeout) {
    for (URI node : nodes) {
      if (!"redis".equals(node.getScheme())) {
        throw new LockConfigurationException(
            "this driver knows redis:// alone: use another driver for " + node.getScheme() + "://");
      }
    }
    this.nodes = nodes;
    this.connectTimeout = connectTimeout;
    this.connections = new AtomicReferenceArray<>(2 * nodes.size());
  }

  @Override
  public List<String> addresses() {
    return nodes.stream().map(node -> node.getHost() + ":" + port(node)).toList();
  }

  @Override
  public CompletionStage<Void> connect(int node, Runnable disconnected) {
    URI uri = nodes.get(node % nodes.size());
    SocketConnection connection = new SocketConnection(node, uri, port(uri), disconnected);
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
          if (connection == null || !connection.ask(round)) {
            round.failure(node, new IOException("not connected"));
          }
        });
  }

  /** Waits a second at most for what was asked before, such as releases. */
  @Override
  public void close() {
    closed = true; // first: who connects looks after it can be found here
    long deadline = System.nanoTime() + CLOSE_NANOS;
    for (int node = 0; node < connections.length(); node++) {
      SocketConnection connection = connections.get(node);
      if (connection != null) {
        connection.close(deadline);
      }
    }
  }

  private static int port(URI node) {
    return node.getPort() < 0 ? DEFAULT_PORT : node.getPort();
  }
}
