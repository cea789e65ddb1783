package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.RedisNodes;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One node: its address, and the connection to it, if there is one. */
final class NodeLink {
  private static final long WARM_UP_SECONDS = 10;

  private final int node;
  private final RedisClient client;
  private final RedisURI uri;
  private volatile @Nullable NodeConnection present;
  private volatile @Nullable NodeEar ear;
  private volatile boolean closed;

  NodeLink(int node, RedisClient client, RedisURI uri) {
    this.node = node;
    this.client = client;
    this.uri = uri;
  }

  RedisClient client() {
    return client;
  }

  String address() {
    return Addresses.of(uri);
  }

  boolean isTls() {
    return uri.isSsl();
  }

  /** On a thread that may resolve names, where Lettuce itself reconnects. */
  CompletionStage<Void> connect(Runnable disconnected, Executor sender) {
    NodeConnection attempt = new NodeConnection(disconnected, sender, client instanceof LeanClient);
    present = attempt;
    if (closed) {
      return CompletableFuture.failedFuture(new RedisConnectionException("closed"));
    }
    try {
      return CompletableFuture.supplyAsync(
              () -> client.connectAsync(NodeConnection.CODEC, uri),
              client.getResources().eventExecutorGroup())
          .thenCompose(Function.identity())
          .thenAccept(attempt::established);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(
          new RedisConnectionException("the client was shut down", e));
    }
  }

  /** Listens, on a connection of its own. */
  NodeEar listen(String channel, RedisNodes.Heard heard, Runnable ended) {
    NodeEar listening = new NodeEar(channel, heard, ended);
    Executor executor = client.getResources().eventExecutorGroup();
    try {
      listening.on(
          CompletableFuture.supplyAsync(
                  () -> client.connectPubSubAsync(NodeEar.CODEC, uri), executor)
              .thenCompose(Function.identity()),
          executor);
      ear = listening;
    } catch (RejectedExecutionException e) {
      // the client was shut down: there is nothing to hear any more
    }
    return listening;
  }

  /**
   * Loads what connecting needs, before the time for connecting runs: on a busy machine that can
   * take longer. Nothing can be connected at port 0, and no packet is sent.
   */
  static void warmUp(RedisClient client) {
    RedisURI nowhere = RedisURI.create("127.0.0.1", 0);
    try {
      Waiting.atMost(
          WARM_UP_SECONDS,
          client.connectAsync(NodeConnection.CODEC, nowhere).toCompletableFuture());
    } catch (IllegalStateException e) {
      // it was shut down, which each attempt to connect will say
    }
  }

  /** Completes when there is no connection. */
  CompletableFuture<Void> disconnect() {
    NodeConnection connection = present;
    return connection == null ? CompletableFuture.completedFuture(null) : connection.drop();
  }

  /**
   * Lets no connection be made any more, and completes when there is none: one that is begun while
   * the client shuts down would stay.
   */
  CompletableFuture<Void> close() {
    closed = true;
    NodeEar listening = ear;
    if (listening == null) {
      return disconnect();
    }
    listening.close();
    return CompletableFuture.allOf(disconnect(), listening.gone());
  }

  /** Writes to this node what asks it, in one go. */
  void send(List<Outgoing> batch) {
    NodeConnection last = present;
    NodeConnection connection = last != null && last.isUsable() ? last : null;
    List<NodeCommand> commands = new ArrayList<>(batch.size());
    for (Outgoing outgoing : batch) {
      if (!outgoing.round().asks(node)) {
        continue;
      }
      if (connection == null) {
        outgoing.round().failure(node, new RedisConnectionException("not connected"));
      } else {
        commands.add(new NodeCommand(outgoing, node, connection));
      }
    }
    if (connection != null && !commands.isEmpty()) {
      connection.send(commands);
    }
  }
}
