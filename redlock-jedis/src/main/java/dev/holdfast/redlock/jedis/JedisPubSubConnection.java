package dev.holdfast.redlock.jedis;

import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.Subscription;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisDataException;

/** A connection of Jedis' that serves a subscription, on a thread of its own. */
final class JedisPubSubConnection extends JedisPubSub implements PubSubConnection {
  private final Subscription subscription;
  private final Runnable endConnecting;

  /** The channels of the first command, which Jedis sends when the thread begins to listen. */
  private String[] first = {};

  private volatile @Nullable Connection connection;
  private volatile boolean closed;

  private JedisPubSubConnection(Subscription subscription, Runnable endConnecting) {
    this.subscription = subscription;
    this.endConnecting = endConnecting;
  }

  /**
   * Serves a subscription.
   *
   * @param connecting makes a connection, and blocks
   * @param endConnecting ends the connecting from another thread, if that is possible
   */
  static void serve(
      Subscription subscription, Supplier<Connection> connecting, Runnable endConnecting) {
    JedisPubSubConnection serving = new JedisPubSubConnection(subscription, endConnecting);
    DriverThreads.named("holdfast-jedis-listen").newThread(() -> serving.run(connecting)).start();
  }

  private void run(Supplier<Connection> connecting) {
    try {
      subscription.onConnected(this); // early, so that closing it ends the connecting
      if (!closed) {
        listen(connecting.get());
      }
    } catch (JedisDataException e) {
      subscription.onError(String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      // waiters poll anyway, and the command connection reports what to correct
    } finally {
      close(); // also what was made after a close, or what Jedis has connected again
      subscription.onEnded();
    }
  }

  private void listen(Connection made) {
    connection = made;
    made.connect();
    if (!closed) {
      proceed(made, first);
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
    endConnecting.run();
    try {
      Connection made = connection;
      if (made != null) {
        made.forceDisconnect();
      }
    } catch (IOException | RuntimeException e) {
      // it has ended
    }
  }
}
