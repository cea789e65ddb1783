package dev.holdfast.redlock.redisson;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One node, and the connection to it, if there is one. */
final class NodeLink {
  private final int node;
  private final Server server;
  private volatile @Nullable NodeConnection present;
  private volatile boolean closed;

  NodeLink(int node, Server server) {
    this.node = node;
    this.server = server;
  }

  Server server() {
    return server;
  }

  CompletionStage<Void> connect(Runnable disconnected) {
    NodeConnection attempt = new NodeConnection(disconnected);
    present = attempt;
    if (closed) {
      attempt.drop();
    }
    return attempt.open(server);
  }

  void send(Outgoing outgoing) {
    NodeConnection connection = present;
    if (connection != null && connection.isUsable()) {
      connection.send(outgoing.to(node, connection));
    } else {
      outgoing.notSentTo(node);
    }
  }

  /** Ends the last connection, or the attempt at one, if there was any. */
  CompletableFuture<Void> disconnect() {
    NodeConnection connection = present;
    return connection == null ? CompletableFuture.completedFuture(null) : connection.drop();
  }

  /** Lets no connection be made any more, and completes when there is none. */
  CompletableFuture<Void> close() {
    closed = true;
    return disconnect();
  }
}
