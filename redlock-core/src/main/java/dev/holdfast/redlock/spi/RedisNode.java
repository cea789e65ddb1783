package dev.holdfast.redlock.spi;

import org.jspecify.annotations.Nullable;

/**
 * One node of {@link PipelinedNodes}, as a driver's client reaches it. No method blocks.
 *
 * @param <E> an encoded command
 */
public interface RedisNode<E> {
  /**
   * Returns the node's name in messages.
   *
   * @return {@code host:port}, and the database if it is not the first, never with user or password
   */
  String address();

  /**
   * Tells whether the node is spoken to by TLS.
   *
   * @return false if it is not, or the driver cannot tell
   */
  default boolean isTls() {
    return false;
  }

  /**
   * Returns the client that {@link PipelinedNodes#unwrap} finds.
   *
   * @return null if there is none to be seen
   */
  default @Nullable Object client() {
    return null;
  }

  /**
   * Begins to connect. The driver reports the steps to the connection. If this method throws,
   * connecting has failed.
   *
   * @param connection a new one each time
   */
  void connect(CommandConnection<E> connection);

  /**
   * Returns the way to a second connection to the same node. See {@link RedisNodes#second}. Called
   * once, when {@link PipelinedNodes} are made.
   *
   * @return by default this
   */
  default RedisNode<E> second() {
    return this;
  }

  /**
   * Makes another connection for a subscription. See {@link RedisNodes#subscribe}. A driver may
   * leave this out.
   *
   * @param subscription receives the connection. If this method throws, it has ended
   */
  default void subscribe(Subscription subscription) {
    subscription.close();
    subscription.onEnded();
  }
}
