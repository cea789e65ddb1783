package dev.holdfast.redlock.lettuce;

import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.PubSubOutput;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;

/** A connection of Lettuce's that serves a subscription. */
final class LettucePubSubConnection extends RedisPubSubAdapter<String, String>
    implements PubSubConnection, RedisConnectionStateListener {
  private final StatefulRedisPubSubConnection<String, String> connection;
  private final Subscription subscription;

  /** Takes over a connection on which nothing was subscribed yet. */
  LettucePubSubConnection(
      StatefulRedisPubSubConnection<String, String> connection, Subscription subscription) {
    this.connection = connection;
    this.subscription = subscription;
    connection.addListener((RedisPubSubListener<String, String>) this);
    connection.addListener((RedisConnectionStateListener) this);
    if (!connection.isOpen()) {
      subscription.onEnded(); // the listener came too late
    }
  }

  @Override
  public void message(String channel, String message) {
    subscription.onMessage(channel, message);
  }

  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
    subscription.onEnded();
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

  /** Sends a command without the timeout of the user's client, after which a node may answer. */
  private void send(CommandType type, List<String> channels) {
    AsyncCommand<String, String, String> command =
        new AsyncCommand<>(
            new Command<>(
                type,
                new PubSubOutput<>(LettuceNode.CODEC),
                new CommandArgs<>(LettuceNode.CODEC).addKeys(channels)));
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
