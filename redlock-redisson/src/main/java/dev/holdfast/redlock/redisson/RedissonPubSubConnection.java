package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.client.ChannelName;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisException;
import org.redisson.client.RedisPubSubConnection;
import org.redisson.client.RedisPubSubListener;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.pubsub.PubSubType;

/** A connection of Redisson's that serves a subscription. */
final class RedissonPubSubConnection implements PubSubConnection, RedisPubSubListener<String> {
  private final RedisPubSubConnection connection;
  private final Subscription subscription;

  private RedissonPubSubConnection(RedisPubSubConnection connection, Subscription subscription) {
    this.connection = connection;
    this.subscription = subscription;
  }

  /** Serves a subscription once there is a connection. */
  static void serve(Subscription subscription, Server server, Duration connectTimeout) {
    try {
      RedisClient client =
          ClientFactory.client(server, connectTimeout, opened -> watch(opened, subscription));
      client
          .connectPubSubAsync()
          .whenCompleteAsync(
              (made, failure) -> {
                if (failure == null) {
                  subscription.onConnected(new RedissonPubSubConnection(made, subscription));
                } else {
                  subscription.onEnded();
                }
              },
              client.getConfig().getExecutor());
    } catch (RuntimeException e) {
      subscription.close(); // the client was shut down: there is nothing to hear any more
      subscription.onEnded();
    }
  }

  private static void watch(Channel opened, Subscription subscription) {
    opened.closeFuture().addListener(closed -> opened.eventLoop().execute(subscription::onEnded));
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
