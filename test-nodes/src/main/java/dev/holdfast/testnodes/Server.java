package dev.holdfast.testnodes;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * One redis-server with an address of its own, whatever it runs in: a process of this machine, or a
 * container. Calls on one server come one after the other, except for those that only look.
 */
interface Server {
  String host();

  /** Returns the port, which is the same after each launch. */
  int port();

  default String address() {
    return host() + ":" + port();
  }

  /** Returns whether everything exists that its launch needs. */
  boolean isPrepared();

  /** Starts the server, which does not run, with its data. Returns while the server comes up. */
  void launch();

  /**
   * Waits until the launched server answers.
   *
   * @return false if it did not come up because another process has its port
   * @throws NodeException if it ended for another reason, or does not answer in time
   */
  boolean awaitReady(Duration limit);

  TestNode.State state();

  /** Returns the process id, or empty if the server does not run. */
  OptionalLong pid();

  /** Returns while it freezes. */
  void freeze();

  void thaw();

  /** Sends SIGKILL and does not wait. Nothing happens if the server does not run. */
  void sendKill();

  /** Waits until nothing of the process is left, its port included. */
  void awaitGone();

  /** Begins to kill it for good, and to free what only this JVM knows of. */
  default void sendFinalKill() {
    sendKill();
  }

  /** Waits for the end of that. */
  default void awaitEnd() {
    awaitGone();
  }

  /** Returns whether the server has written anything that it would read at its next launch. */
  boolean hasData();

  /** Deletes the data of a server that does not run. */
  void deleteData();
}
