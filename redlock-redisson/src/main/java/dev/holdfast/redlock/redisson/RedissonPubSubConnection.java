package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.client.ChannelName;
import org.redisson.client.RedisException;
import org.redisson.client.RedisPubSubConnection;
import org.redisson.client.RedisPubSubListener;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.pubsub.PubSubType;

/** A connection of Redisson's that serves a subscription. */
final class RedissonPubSubConnection implements PubSubConnection, RedisPubSubListener<String> {
  private final RedisPubSubConnection connection;
  private final Subscription subscription;

  /** Takes over a connection on which nothing was subscribed yet. */
  RedissonPubSubConnection(RedisPubSubConnection connection, Subscription subscription) {
    this.connection = connection;
    this.subscription = subscription;
    connection.getChannel().closeFuture().addListener(closed -> subscription.onEnded());
  }

  @Override
  public void subscribe(List<String> channels) {
    CompletableFuture<Void> subscribing = new CompletableFuture<>();
    subscribing.whenComplete(
        (done, failure) -> {
          if (failure instanceof RedisException) {
            subscription.onError(String.valueOf(failure.getMessage()));
          }
        });
    ChannelName[] names = names(channels);
    for (ChannelName name : names) {
      connection.addListener(name, this);
    }
    connection.subscribe(subscribing, StringCodec.INSTANCE, names);
  }

  @Override
  public void unsubscribe(List<String> channels) {
    connection.unsubscribe(PubSubType.UNSUBSCRIBE, names(channels));
  }

  private static ChannelName[] names(List<String> channels) {
    return channels.stream().map(ChannelName::new).toArray(ChannelName[]::new);
  }

  @Override
  public void onStatus(PubSubType type, CharSequence channel) {
    if (type == PubSubType.UNSUBSCRIBE) {
      ChannelName name = new ChannelName(channel.toString());
      connection.removeListener(name, this);
      connection.removeDisconnectListener(name); // or it keeps the name as long as it lives
    }
    subscription.onAnswered(channel.toString());
  }

  @Override
  public void onMessage(CharSequence channel, String message) {
    subscription.onMessage(channel.toString(), message);
  }

  @Override
  public void close() {
    connection.closeAsync();
  }
}
