package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateAdapter;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.PubSubOutput;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A connection of Lettuce's that serves a subscription. */
final class LettucePubSubConnection implements PubSubConnection {
  /** The codec of these connections alone; see {@link MinimalRedisClient}. */
  static final RedisCodec<String, String> CODEC = new StringCodec(StandardCharsets.UTF_8);

  private final StatefulRedisPubSubConnection<String, String> connection;
  private final Subscription subscription;

  private LettucePubSubConnection(
      StatefulRedisPubSubConnection<String, String> connection, Subscription subscription) {
    this.connection = connection;
    this.subscription = subscription;
  }

  /** Serves a subscription once there is a connection. */
  static void serve(
      Subscription subscription,
      CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting,
      Executor executor) {
    connecting
        .thenAcceptAsync(made -> new LettucePubSubConnection(made, subscription).begin(), executor)
        .whenComplete(
            (begun, failure) -> {
              if (failure != null) {
                connecting.thenAccept(StatefulRedisPubSubConnection::closeAsync);
                subscription.onEnded();
              }
            });
  }

  private void begin() {
    connection.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            subscription.onMessage(channel, message);
          }
        });
    connection.addListener(
        new RedisConnectionStateAdapter() {
          @Override
          public void onRedisDisconnected(RedisChannelHandler<?, ?> gone) {
            subscription.onEnded();
          }
        });
    subscription.onConnected(this);
    if (!connection.isOpen()) {
      subscription.onEnded(); // the listener came too late
    }
  }

  @Override
  public void subscribe(List<String> channels) {
    send(CommandType.SUBSCRIBE, channels);
  }

  @Override
  public void unsubscribe(List<String> channels) {
    send(CommandType.UNSUBSCRIBE, channels);
  }

  @Override
  public void close() {
    connection.closeAsync().whenComplete((done, failure) -> subscription.onEnded());
  }

  /** A client of the user's may have a timeout of its own, after which the node still answers. */
  private void send(CommandType type, List<String> channels) {
    AsyncCommand<String, String, String> command =
        new AsyncCommand<>(
            new Command<>(
                type, new PubSubOutput<>(CODEC), new CommandArgs<>(CODEC).addKeys(channels)));
    command.whenComplete(
        (done, failure) -> {
          if (failure instanceof RedisCommandExecutionException) {
            subscription.onError(String.valueOf(failure.getMessage()));
          } else {
            channels.forEach(subscription::onAnswered);
          }
        });
    connection.dispatch(command);
  }
}
