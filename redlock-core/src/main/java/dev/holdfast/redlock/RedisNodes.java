package dev.holdfast.redlock;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The port that a driver implements: how to reach N independent Redis masters. It knows nothing of
 * locks. When to connect, how patiently to reconnect, what to check and what to log is decided
 * above it.
 *
 * <p>A node has up to two connections: with N addresses, index i is the first connection to node i,
 * and index N + i a second one to the same node, with the same credentials and database. The second
 * is for transactions, and connected only where the user may run no scripts. All methods but {@link
 * #listen}, which makes a third connection, take both kinds of index.
 *
 * <p>A driver keeps five promises:
 *
 * <ol>
 *   <li>Each node that a round asks gets its command at most once, ever: nothing is sent again
 *       after a reconnect.
 *   <li>A node gets the commands of two rounds in the order in which the rounds were submitted, as
 *       long as its connection lasts.
 *   <li>Each node of a round is answered for exactly once, however late: by a reply, an error reply
 *       or a failure. When a connection ends, all that was asked on it and not answered fails; and
 *       where something fails, the connection ends.
 *   <li>No method blocks, but for {@link #submit} of a round whose {@link Round#callerWaits()} says
 *       that it may, until that round is decided; and {@link #close}, for a bounded time.
 *   <li>It answers no round, and tells of no end, while it holds a lock that {@link #submit} takes;
 *       nor does it answer other rounds than the one that it is given inside of {@link #submit},
 *       unless that may block. Whoever submits may hold a lock that an answer needs.
 * </ol>
 *
 * <p>Safe for use by many threads.
 */
public interface RedisNodes extends AutoCloseable {
  /**
   * The nodes, in the order of their indexes.
   *
   * @return each as {@code host:port}, for messages; the same list every time
   */
  List<String> addresses();

  /**
   * Tells whether a node is spoken to by TLS, for messages: many a connection fails because one
   * side speaks TLS and the other does not.
   *
   * @param node its index
   * @return false if it is not, or the driver cannot tell
   */
  default boolean isTls(int node) {
    return false;
  }

  /**
   * Connects to a node anew. Not called for a node whose connection lasts, nor while an earlier
   * call is under way, unless {@link #disconnect} came between, which ends both.
   *
   * @param node its index
   * @param disconnected to be run once when this connection has ended, whoever ended it, after what
   *     was asked on it has failed; never if it was not made
   * @return completes when the node has answered and takes commands; exceptionally, within the
   *     driver's own time-out, if it does not
   */
  CompletionStage<Void> connect(int node, Runnable disconnected);

  /**
   * Drops the connection to a node, or the attempt at one.
   *
   * @param node its index
   */
  void disconnect(int node);

  /**
   * Sends a round's command to each node that it asks, and brings what they answer to the round.
   *
   * @param round what to ask, and whom
   */
  void submit(Round round);

  /**
   * Listens to what is published on a node, on one more connection to it, with the same
   * credentials. Not called while an earlier one lasts. It is closed from above when the node's
   * first connection ends, so that a node which hangs is noticed there only.
   *
   * @param node its index, below N
   * @param channel heard for as long as the connection lasts: without one, a server counts it among
   *     its normal clients, and may close it as idle
   * @param heard is told of each message, on any thread; short
   * @param ended to be run once when this connection has ended, or was not made; never before this
   *     has returned, nor after {@link Ear#close}; nor if the user lacks the right (NOPERM), so
   *     that it is not asked again before the node has been away
   * @return to be spoken to at once: what is said before the connection is made is said then
   */
  default Ear listen(int node, String channel, Heard heard, Runnable ended) {
    return Ear.DEAF;
  }

  /** A connection that listens. No method blocks or throws. */
  interface Ear {
    /** Of a driver that cannot: waiters ask now and then, as they do while a node is away. */
    Ear DEAF =
        new Ear() {
          @Override
          public void subscribe(String channel) {}

          @Override
          public void unsubscribe(String channel) {}

          @Override
          public void close() {}
        };

    /**
     * Hears a channel from now on.
     *
     * @param channel its name
     */
    void subscribe(String channel);

    /**
     * Hears it no more.
     *
     * @param channel its name
     */
    void unsubscribe(String channel);

    /** Ends the connection. */
    void close();
  }

  /** What was published. */
  @FunctionalInterface
  interface Heard {
    /**
     * A message came.
     *
     * @param channel where
     * @param message what
     */
    void message(String channel, String message);
  }

  /**
   * Gives the driver's own objects; see {@link dev.holdfast.LockManager#unwrap}.
   *
   * @param <T> the type
   * @param type the type that is looked for
   * @return empty if there is no such thing
   */
  default <T> Optional<T> unwrap(Class<T> type) {
    return Optional.empty();
  }

  /**
   * Closes all that the driver opened, and nothing else. What was submitted before, such as
   * releases, should still be sent; a second of waiting for it is enough. What is called afterwards
   * fails: no method throws.
   */
  @Override
  void close();
}
