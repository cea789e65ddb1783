package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.PipelinedNodes;
import dev.holdfast.redlock.spi.RedisNode;
import dev.holdfast.redlock.spi.Subscription;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One node, reached by a client of Lettuce's.
 *
 * @param sender the thread that writes, one for all nodes: Lettuce keeps the order of what two
 *     threads write only if neither is the connection's own
 */
record LettuceNode(RedisClient client, RedisURI uri, Executor sender) implements RedisNode<byte[]> {
  private static final Duration WARM_UP = Duration.ofSeconds(10);

  static PipelinedNodes<byte[]> all(List<LettuceNode> nodes, Runnable afterClose) {
    return new PipelinedNodes<>(nodes, Command::encoded, afterClose);
  }

  @Override
  public String address() {
    return address(uri);
  }

  static String address(RedisURI uri) {
    String host = uri.getHost();
    String server =
        uri.getSocket() != null
            ? uri.getSocket()
            : (host.contains(":") ? "[" + host + "]" : host) + ":" + uri.getPort();
    return uri.getDatabase() == 0 ? server : server + "/" + uri.getDatabase();
  }

  @Override
  public boolean isTls() {
    return uri.isSsl();
  }

  @Override
  public void connect(CommandConnection<byte[]> connection) {
    begin(() -> connectIfWanted(connection))
        .thenAccept(made -> serve(made, connection))
        .whenComplete(
            (begun, failure) -> {
              if (failure != null) {
                connection.onEnded(failure);
              }
            });
  }

  /** Closes a connection that cannot be served, such as another class in a client of the user's. */
  private void serve(
      StatefulRedisConnection<String, String> made, CommandConnection<byte[]> connection) {
    try {
      LettuceConnection.begin(made, this, connection);
    } catch (RuntimeException | Error e) {
      made.closeAsync();
      throw e;
    }
  }

  /** A user's client that is shut down just when it begins to connect leaves a socket behind. */
  private CompletionStage<StatefulRedisConnection<String, String>> connectIfWanted(
      CommandConnection<byte[]> connection) {
    return connection.isConnecting()
        ? client.connectAsync(LettuceConnection.CODEC, uri)
        : CompletableFuture.failedFuture(new RedisConnectionException("it was dropped"));
  }

  @Override
  public void subscribe(Subscription subscription) {
    LettucePubSubConnection.serve(
        subscription,
        begin(() -> client.connectPubSubAsync(LettucePubSubConnection.CODEC, uri)),
        client.getResources().eventExecutorGroup());
  }

  /** Connects on a thread that may resolve names, as Lettuce itself reconnects. */
  private <C> CompletableFuture<C> begin(Supplier<? extends CompletionStage<C>> connecting) {
    return CompletableFuture.supplyAsync(connecting, client.getResources().eventExecutorGroup())
        .thenCompose(Function.identity());
  }

  /**
   * Loads what connecting needs, before the time for connecting runs: on a busy machine that can
   * take longer. Nothing can be connected at port 0, and no packet is sent.
   */
  static void warmUp(RedisClient client) {
    RedisURI nowhere = RedisURI.create("127.0.0.1", 0);
    try {
      DriverThreads.await(WARM_UP, client.connectAsync(LettuceConnection.CODEC, nowhere));
    } catch (IllegalStateException e) {
      // it was shut down, which each attempt to connect will say
    }
  }
}
