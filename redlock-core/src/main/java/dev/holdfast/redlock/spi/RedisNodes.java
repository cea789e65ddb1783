package dev.holdfast.redlock.spi;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The port that a driver implements: the way to N independent Redis masters. A driver knows nothing
 * of locks. The layers above it decide when to connect and reconnect, what to check and what to
 * log.
 *
 * <p>A driver keeps five promises:
 *
 * <ol>
 *   <li>Each node that a round asks gets its command at most once, ever. Nothing is sent again
 *       after a reconnect.
 *   <li>A node gets the commands of two rounds in the order in which the rounds were submitted, as
 *       long as its connection lasts. None of them waits for the reply to another one.
 *   <li>Each node of a round is answered for exactly once, however late: by a reply, an error reply
 *       or a failure. When a connection ends, all its unanswered commands fail. When a command
 *       fails, its connection ends.
 *   <li>No method blocks, with two exceptions, each for a bounded time: {@link #lendThread} and
 *       {@link #close}.
 *   <li>A driver answers no round and reports no end while it holds a lock that {@link
 *       RedisConnections#submit} takes. Inside {@code submit} it answers no round except the
 *       submitted one. The submitting thread may hold a lock that an answer needs.
 * </ol>
 *
 * <p>Safe for use by many threads.
 */
public interface RedisNodes extends AutoCloseable {
  /**
   * Returns the nodes, in the order of their indexes.
   *
   * @return the same list every time, of names for messages: {@code host:port}, and the database if
   *     it is not the first
   */
  List<String> addresses();

  /**
   * Tells whether a node is spoken to by TLS. Messages need it: many connections fail because one
   * side speaks TLS and the other does not.
   *
   * @param node its index
   * @return false if it is not, or the driver cannot tell
   */
  default boolean isTls(int node) {
    return false;
  }

  /**
   * Returns the connections that carry the commands, one to each node.
   *
   * @return the same object every time, which {@link #close} closes, too
   */
  RedisConnections first();

  /**
   * Returns a second connection to each node, with the same credentials and database. It is for
   * transactions, and is made only to a node whose user may not run scripts.
   *
   * @return the same object every time, which {@link #close} closes, too
   */
  RedisConnections second();

  /**
   * Starts an operation on a thread that waits for the result and does nothing else. A driver may
   * hold back the rounds that the operation submits on this thread, and use the thread for its
   * input and output until the result is there, for a bounded time. By default starts the
   * operation.
   *
   * @param <T> the type of the result
   * @param operation submits rounds, while the thread holds no lock
   * @return the result of the operation, perhaps completed by this thread
   */
  default <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return operation.get();
  }

  /**
   * Makes another connection to a node, with the same credentials, for a subscription, which closes
   * it when the node's first connection ends, so that a node which hangs is noticed on one
   * connection only. Not called while an earlier subscription lasts.
   *
   * <p>A driver may leave this out: waiters then poll every {@code retryDelay}.
   *
   * @param node its index
   * @param subscription receives the connection and all that comes on it, and its end, which is not
   *     reported before this method has returned. A driver that is closed closes it
   */
  default void subscribe(int node, Subscription subscription) {}

  /**
   * Returns the driver's own objects. See {@link dev.holdfast.LockManager#unwrap}.
   *
   * @param <T> the type
   * @param type the type that is looked for
   * @return empty if there is no such object
   */
  default <T> Optional<T> unwrap(Class<T> type) {
    return Optional.empty();
  }

  /**
   * Closes all that the driver opened, and nothing else. Rounds that were submitted before, such as
   * releases, should still be sent, for which a second is enough. Later calls fail: no method
   * throws.
   */
  @Override
  void close();
}
