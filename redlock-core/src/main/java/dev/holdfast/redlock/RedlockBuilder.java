package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;

/**
 * The part of a builder that is the same with every driver. A driver adds methods that collect its
 * nodes. Builders are not safe for use by many threads.
 *
 * @param <B> the builder itself
 */
public interface RedlockBuilder<B extends RedlockBuilder<B>> {
  /**
   * Sets how Redlock is run.
   *
   * @param options default {@link RedlockOptions#defaults()}
   * @return this
   */
  B options(RedlockOptions options);

  /**
   * Opens the manager. Connects, unless the options say otherwise.
   *
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if there is no node, if one is listed twice, is the same
   *     server as another, is a replica or refuses the credentials, or if a client cannot be used
   *     as it is set up
   * @throws LockOutageException if no quorum can be reached in time
   */
  LockManager open();
}
