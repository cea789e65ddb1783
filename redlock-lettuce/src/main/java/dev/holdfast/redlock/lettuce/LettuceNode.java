package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.Subscription;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One node: its address, and the connection to it, if there is one. */
final class LettuceNode {
  private static final Duration WARM_UP = Duration.ofSeconds(10);

  private final int node;
  private final RedisClient client;
  private final RedisURI uri;
  private volatile @Nullable NodeConnection present;
  private volatile @Nullable Subscription subscription;
  private volatile boolean closed;

  LettuceNode(int node, RedisClient client, RedisURI uri) {
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

  /** Connects on a thread that may resolve names, as Lettuce itself reconnects. */
  CompletableFuture<Void> connect(Runnable disconnected, Executor sender) {
    NodeConnection attempt =
        new NodeConnection(node, disconnected, sender, client instanceof MinimalRedisClient);
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

  /** Serves a subscription on a connection of its own. */
  void subscribe(Subscription wanted) {
    Executor executor = client.getResources().eventExecutorGroup();
    try {
      LettucePubSubConnection.serve(
          wanted,
          CompletableFuture.supplyAsync(
                  () -> client.connectPubSubAsync(LettucePubSubConnection.CODEC, uri), executor)
              .thenCompose(Function.identity()),
          executor);
      subscription = wanted;
    } catch (RejectedExecutionException e) {
      // the client was shut down: there is nothing to hear any more
    }
  }

  /**
   * Loads what connecting needs, before the time for connecting runs: on a busy machine that can
   * take longer. Nothing can be connected at port 0, and no packet is sent.
   */
  static void warmUp(RedisClient client) {
    RedisURI nowhere = RedisURI.create("127.0.0.1", 0);
    try {
      DriverThreads.await(WARM_UP, client.connectAsync(NodeConnection.CODEC, nowhere));
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
    Subscription listening = subscription;
    if (listening == null) {
      return disconnect();
    }
    listening.close();
    return CompletableFuture.allOf(disconnect(), listening.ended());
  }

  /** Writes to this node what asks it, in one go. For the sender. */
  void send(List<EncodedRound> batch) {
    NodeConnection connection = present;
    for (EncodedRound outgoing : batch) {
      if (!outgoing.round().asks(node)) {
        continue;
      }
      if (connection == null) {
        outgoing.round().failure(node, new RedisConnectionException("not connected"));
      } else {
        connection.commands().add(outgoing);
      }
    }
    if (connection != null) {
      connection.commands().flushNow();
    }
  }
}
