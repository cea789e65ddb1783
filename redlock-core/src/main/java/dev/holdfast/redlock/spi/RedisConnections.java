package dev.holdfast.redlock.spi;

import java.util.concurrent.CompletableFuture;

/**
 * One connection to each of the nodes, and the commands on it. A node has up to two: see {@link
 * RedisNodes#first} and {@link RedisNodes#second}. Keeps the promises of {@link RedisNodes}. Safe
 * for use by many threads.
 */
public interface RedisConnections {
  /**
   * Connects to a node. Not called for a node whose connection lasts, nor while an earlier call is
   * in progress, unless {@link #disconnect} came between, which ends both.
   *
   * @param node its index
   * @param disconnected run once when this connection has ended, whichever side ended it, after its
   *     unanswered commands have failed, never if it was not made
   * @return completes when the node has answered and takes commands, exceptionally, within the
   *     driver's own timeout, if it does not. If the node refuses the login, the message of the
   *     exception or of a cause begins with the node's error reply, such as {@code WRONGPASS}
   */
  CompletableFuture<Void> connect(int node, Runnable disconnected);

  /**
   * Drops the connection to a node, or ends the connecting. The commands that it leaves unanswered
   * may fail after the next call of {@link #connect}.
   *
   * @param node its index
   */
  void disconnect(int node);

  /**
   * Sends a round's command to each node that it asks, and brings the answers to the round.
   *
   * @param round the command and the nodes
   */
  void submit(Round round);
}
