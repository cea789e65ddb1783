package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisDataException;

/** A connection of Jedis' that serves a subscription, on a thread of its own. */
final class JedisPubSubConnection extends JedisPubSub implements PubSubConnection {
  private final Connection connection;
  private final Subscription subscription;

  /** The channels of the first command, which Jedis sends when the thread begins to listen. */
  private String[] first = {};

  private volatile boolean closed;

  private JedisPubSubConnection(Connection connection, Subscription subscription) {
    this.connection = connection;
    this.subscription = subscription;
  }

  /**
   * Serves a subscription.
   *
   * @param connecting gives a connection; blocks
   */
  static void serve(Subscription subscription, Supplier<Connection> connecting) {
    DriverThreads.named("holdfast-jedis-listen")
        .newThread(() -> receive(subscription, connecting))
        .start();
  }

  private static void receive(Subscription subscription, Supplier<Connection> connecting) {
    try {
      Connection made = connecting.get();
      made.connect();
      JedisPubSubConnection listening = new JedisPubSubConnection(made, subscription);
      subscription.onConnected(listening);
      if (!listening.closed) {
        listening.proceed(made, listening.first);
      }
    } catch (JedisDataException e) {
      subscription.onError(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      // waiters poll anyway, and the command connection reports what to mend
    } finally {
      subscription.onEnded();
    }
  }

  @Override
  public void subscribe(List<String> channels) {
    String[] names = channels.toArray(String[]::new);
    if (first.length == 0) {
      first = names;
    } else {
      send(() -> subscribe(names));
    }
  }

  @Override
  public void unsubscribe(List<String> channels) {
    send(() -> unsubscribe(channels.toArray(String[]::new)));
  }

  private void send(Runnable command) {
    try {
      command.run();
    } catch (RuntimeException e) {
      close(); // which ends the thread that listens
    }
  }

  @Override
  public void onSubscribe(String channel, int count) {
    answered(channel);
  }

  @Override
  public void onUnsubscribe(String channel, int count) {
    answered(channel);
  }

  private void answered(String channel) {
    if (closed) {
      close(); // Jedis has connected again: it was closed before it began to listen
    } else {
      subscription.onAnswered(channel);
    }
  }

  @Override
  public void onMessage(String channel, String message) {
    subscription.onMessage(channel, message);
  }

  @Override
  public void close() {
    closed = true;
    try {
      connection.forceDisconnect();
    } catch (IOException | RuntimeException e) {
      // it has ended
    }
  }
}
