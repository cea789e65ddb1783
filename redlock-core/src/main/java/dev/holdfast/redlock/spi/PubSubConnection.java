package dev.holdfast.redlock.spi;

import java.util.List;

/**
 * A connection that a driver has made for a {@link Subscription}. No method blocks or throws. The
 * subscription calls them one at a time, and sends the next command only after the node has
 * answered the one before.
 */
public interface PubSubConnection {
  /**
   * Sends {@code SUBSCRIBE}.
   *
   * @param channels at least one, and of about 16 KiB together, which fit into a connection's
   *     buffers although the node reads nothing
   */
  void subscribe(List<String> channels);

  /**
   * Sends {@code UNSUBSCRIBE}.
   *
   * @param channels as with {@link #subscribe}
   */
  void unsubscribe(List<String> channels);

  /**
   * Ends the connection and its threads, and lets the client not make it again. The last call, also
   * for a connection that has ended by itself: its threads and resources end here. {@link
   * Subscription#onEnded} may be called before this returns, and does nothing then.
   */
  void close();
}
