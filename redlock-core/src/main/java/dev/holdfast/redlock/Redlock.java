package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.internal.lock.RedlockOpening;
import dev.holdfast.redlock.spi.RedisNodes;

/** The entry point for authors of drivers: makes a Redlock manager over a driver's nodes. */
public final class Redlock {
  private Redlock() {}

  /**
   * Opens a manager over some nodes, which it closes when it is closed, or when opening fails.
   * Connects, unless the options say otherwise.
   *
   * @param nodes N independent masters
   * @param options how to run the algorithm
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if there is no node, or what was found on one is wrong: a
   *     replica, the same server twice, bad credentials
   * @throws LockOutageException if no quorum can be reached in time
   */
  public static LockManager open(RedisNodes nodes, RedlockOptions options) {
    return RedlockOpening.open(nodes, options.forAlgorithm());
  }
}
