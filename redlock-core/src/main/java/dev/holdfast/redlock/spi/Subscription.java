package dev.holdfast.redlock.spi;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The channels to which a manager subscribes at one node, over one connection that a driver makes.
 * Channels that are wanted before the connection is made are subscribed then.
 *
 * <p>One command is unanswered at a time. Changes that are wanted meanwhile wait, and those that
 * cancel each other out are not sent. So a node that hangs leaves one command to fail when its
 * connection ends, and a blocking client never waits for the node to read.
 *
 * <p>A driver reports by the methods {@code on…}, on any thread. Safe for use by many threads.
 */
public final class Subscription {
  /**
   * Maximum number of characters of the channels in one command: less than the smallest buffers of
   * a connection hold.
   */
  private static final int MAX_CHARS = 16 * 1024;

  private final Listener listener;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final Set<String> wanted = new HashSet<>();

  /** The changes that were not sent yet: the channel, and whether it is wanted. */
  private final Map<String, Boolean> unsent = new LinkedHashMap<>();

  /** The channels of the last command that the node has not answered yet. */
  private final Set<String> unanswered = new HashSet<>();

  /** True if the last command was {@code SUBSCRIBE}. */
  private boolean subscribing;

  private @Nullable PubSubConnection connection;
  private boolean closed;

  /** Receives what a subscription reports, on any thread, and does not block. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Receives a message.
     *
     * @param channel where it was published
     * @param message its text
     */
    void onMessage(String channel, String message);

    /**
     * Reacts to the node's answer that a channel is subscribed. Earlier messages may have been
     * missed.
     *
     * @param channel its name
     */
    default void onSubscribed(String channel) {}

    /**
     * Reacts, once, to the end of the connection, or to a connection that was not made. Not called
     * after {@link #close}, nor if the user lacks the right (NOPERM), so that the node is not asked
     * again before it has been away.
     *
     * @param ended this subscription
     */
    default void onEnded(Subscription ended) {}
  }

  /**
   * Makes a subscription. Managers do this themselves, so it serves only tests of drivers.
   *
   * @param channel subscribed for as long as the connection lasts: without a channel, a server
   *     counts the connection among its normal clients, and may close it as idle
   * @param listener receives the messages and the end of the connection
   */
  public Subscription(String channel, Listener listener) {
    this.listener = listener;
    subscribe(channel);
  }

  /**
   * Subscribes to a channel.
   *
   * @param channel its name
   */
  public synchronized void subscribe(String channel) {
    if (wanted.add(channel) && !unsent.remove(channel, false)) {
      unsent.put(channel, true);
      send();
    }
  }

  /**
   * Unsubscribes from a channel.
   *
   * @param channel its name
   */
  public synchronized void unsubscribe(String channel) {
    if (wanted.remove(channel) && !unsent.remove(channel, true)) {
      unsent.put(channel, false);
      send();
    }
  }

  /** Ends the connection, or the connecting. */
  public synchronized void close() {
    if (!closed) {
      closed = true;
      closeConnection();
    }
  }

  /**
   * Returns the end of the connection.
   *
   * @return completes once there is no connection, and none is being made
   */
  public CompletableFuture<Void> ended() {
    return ended.copy();
  }

  /**
   * Follows the connecting, which the client reports by a future.
   *
   * @param connecting the connection as for {@link #onConnected}. If it fails, the subscription has
   *     ended
   */
  public void onConnecting(CompletionStage<? extends PubSubConnection> connecting) {
    connecting
        .thenAccept(this::onConnected)
        .whenComplete(
            (connected, failure) -> {
              if (failure != null) {
                onEnded();
              }
            });
  }

  /**
   * Receives the connection.
   *
   * @param made a connection on which nothing was subscribed yet, or one that is still being made
   *     and keeps the first command until then. It is closed at once if the subscription was closed
   *     meanwhile
   */
  public synchronized void onConnected(PubSubConnection made) {
    connection = made;
    if (closed) {
      closeConnection();
    } else {
      send();
    }
  }

  /**
   * Receives the answer of the node for one channel of the last command.
   *
   * @param channel the channel that is now subscribed, or is not any more
   */
  public void onAnswered(String channel) {
    boolean subscribed;
    synchronized (this) {
      subscribed = unanswered.remove(channel) && subscribing && !closed;
      send();
    }
    if (subscribed) {
      listener.onSubscribed(channel);
    }
  }

  /**
   * Receives an error reply to the last command.
   *
   * @param error the text of the reply, its code first
   */
  public void onError(String error) {
    if (error.startsWith("NOPERM")) {
      close();
    } else {
      end();
    }
  }

  /**
   * Receives a message.
   *
   * @param channel where it was published
   * @param message its text
   */
  public void onMessage(String channel, String message) {
    listener.onMessage(channel, message);
  }

  /** Notes that the connection has ended, whichever side ended it, or could not be made. */
  public void onEnded() {
    ended.complete(null);
    end();
  }

  private void end() {
    synchronized (this) {
      if (closed) {
        return;
      }
      close(); // a client of the user's might connect again
    }
    listener.onEnded(this);
  }

  private void closeConnection() {
    unsent.clear();
    if (connection != null) {
      connection.close();
    }
  }

  private void send() {
    if (connection == null || closed || !unanswered.isEmpty() || unsent.isEmpty()) {
      return;
    }
    subscribing = unsent.values().iterator().next();
    List<String> channels = takeUnsent(subscribing);
    unanswered.addAll(channels);
    if (subscribing) {
      connection.subscribe(channels);
    } else {
      connection.unsubscribe(channels);
    }
  }

  /** Takes the next changes of one kind, which one command can hold. */
  private List<String> takeUnsent(boolean subscribes) {
    List<String> channels = new ArrayList<>();
    int chars = 0;
    Iterator<Map.Entry<String, Boolean>> changes = unsent.entrySet().iterator();
    while (changes.hasNext() && chars < MAX_CHARS) {
      Map.Entry<String, Boolean> change = changes.next();
      if (change.getValue() == subscribes) {
        channels.add(change.getKey());
        chars += change.getKey().length();
        changes.remove();
      }
    }
    return channels;
  }
}
