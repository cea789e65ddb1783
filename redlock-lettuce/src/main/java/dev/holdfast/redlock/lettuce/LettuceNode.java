package dev.holdfast.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.RedisNode;
import dev.holdfast.redlock.spi.Subscription;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * One node, reached by a client of Lettuce's.
 *
 * @param sender the thread that writes, always the same: Lettuce keeps the order of what two
 *     threads write only if neither is the connection's own
 */
record LettuceNode(RedisClient client, RedisURI uri, Executor sender) implements RedisNode<byte[]> {
  /** The codec of our connections alone, by which our own client knows them. */
  static final RedisCodec<String, String> CODEC = new StringCodec(UTF_8);

  @Override
  public String address() {
    return address(uri);
  }

  static String address(RedisURI uri) {
    String socket = uri.getSocket();
    return RedisNodeUri.address(
        socket == null ? RedisNodeUri.server(uri.getHost(), uri.getPort()) : socket,
        uri.getDatabase());
  }

  @Override
  public boolean isTls() {
    return uri.isSsl();
  }

  @Override
  public void connect(CommandConnection<byte[]> connection) {
    connection.onConnecting(
        begin(
                () -> {
                  if (!connection.isConnecting()) {
                    // a user's client that is shut down meanwhile would leave a socket behind
                    throw new RedisConnectionException("it was dropped");
                  }
                  return client.connectAsync(CODEC, uri);
                })
            .thenAccept(made -> LettuceConnection.begin(made, this, connection)));
  }

  @Override
  public void subscribe(Subscription subscription) {
    Executor executor = client.getResources().eventExecutorGroup();
    subscription.onConnecting(
        begin(() -> client.connectPubSubAsync(CODEC, uri))
            .thenApplyAsync(made -> new LettucePubSubConnection(made, subscription), executor));
  }

  /** Connects on a thread that may resolve names, as Lettuce itself reconnects. */
  private <C> CompletableFuture<C> begin(Supplier<? extends CompletionStage<C>> connecting) {
    return CompletableFuture.supplyAsync(connecting, client.getResources().eventExecutorGroup())
        .thenCompose(Function.identity());
  }
}
