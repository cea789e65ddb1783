package dev.holdfast.redlock.redisson;

import dev.holdfast.redlock.RedisNodes;
import io.netty.channel.Channel;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.redisson.client.ChannelName;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisException;
import org.redisson.client.RedisPubSubConnection;
import org.redisson.client.RedisPubSubListener;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.pubsub.PubSubType;

/** A connection to one node that listens. What is said before it is made waits for it. */
final class NodeEar implements RedisNodes.Ear {
  private final RedisPubSubListener<String> listener;
  private final Runnable ended;
  private final Set<String> channels = new HashSet<>();
  private @Nullable RedisPubSubConnection connection;
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private @Nullable Channel channel;
  private boolean over;

  private NodeEar(String always, RedisNodes.Heard heard, Runnable ended) {
    channels.add(always);
    this.listener = (name, message) -> heard.message(name.toString(), message);
    this.ended = ended;
  }

  static NodeEar open(
      Server server,
      Duration connectTimeout,
      String always,
      RedisNodes.Heard heard,
      Runnable ended) {
    NodeEar ear = new NodeEar(always, heard, ended);
    try {
      RedisClient client = Attempts.client(server, connectTimeout, ear::watch);
      client
          .connectPubSubAsync()
          .whenCompleteAsync(
              (made, failure) -> {
                if (failure == null) {
                  ear.begin(made);
                } else {
                  ear.gone.complete(null);
                  ear.end();
                }
              },
              client.getConfig().getExecutor());
    } catch (RuntimeException e) {
      ear.gone.complete(null); // what the client runs on was shut down
    }
    return ear;
  }

  @Override
  public synchronized void subscribe(String channel) {
    if (channels.add(channel) && connection != null) {
      hear(connection, channel);
    }
  }

  @Override
  public synchronized void unsubscribe(String channel) {
    if (channels.remove(channel) && connection != null) {
      ChannelName name = new ChannelName(channel);
      connection.removeListener(name, listener);
      connection.unsubscribe(PubSubType.UNSUBSCRIBE, name);
      connection.removeDisconnectListener(name); // or it keeps the name as long as it lives
    }
  }

  @Override
  public synchronized void close() {
    over = true;
    if (connection != null) {
      connection.closeAsync();
    } else if (channel != null) {
      channel.close();
    }
  }

  /** Completes when there is no connection, and none is being made, after {@link #close}. */
  CompletableFuture<Void> gone() {
    return gone;
  }

  private synchronized void watch(Channel opened) {
    channel = opened;
    opened.closeFuture().addListener(closed -> opened.eventLoop().execute(this::end));
    opened.closeFuture().addListener(closed -> gone.complete(null));
    if (over) {
      opened.close();
    }
  }

  private synchronized void begin(RedisPubSubConnection made) {
    connection = made;
    if (over) {
      made.closeAsync();
      return;
    }
    channels.forEach(channel -> hear(made, channel));
  }

  private void hear(RedisPubSubConnection on, String channel) {
    if (over) {
      return;
    }
    ChannelName name = new ChannelName(channel);
    CompletableFuture<Void> subscribing = new CompletableFuture<>();
    subscribing.whenComplete((done, failure) -> refused(failure));
    on.addListener(name, listener);
    on.subscribe(subscribing, StringCodec.INSTANCE, name);
  }

  private void refused(@Nullable Throwable failure) {
    if (failure instanceof RedisException) {
      if (String.valueOf(failure.getMessage()).startsWith("NOPERM")) {
        close(); // it stays deaf
      } else {
        end();
      }
    }
  }

  private void end() {
    synchronized (this) {
      if (over) {
        return;
      }
      close(); // or it would be made again
    }
    ended.run();
  }
}
