package dev.holdfast.core;

import dev.holdfast.LockListener;
import dev.holdfast.LockNode;

/**
 * The receiver of the nodes' votes and changes. Its methods return at once, throw nothing, and may
 * be called under any lock: it calls no listener itself. Safe for use by many threads.
 */
public interface NodeObserver {
  /**
   * Tells whether votes are of interest now. A backend asks this before any work for a vote.
   *
   * @return false if no listener is there
   */
  boolean isActive();

  /**
   * Receives one vote on an attempt or an extension, or the lack of one. Once for each node that
   * was asked.
   *
   * @param node the node's address
   * @param vote the vote
   */
  void onVote(String node, LockListener.Vote vote);

  /**
   * Receives a change of a node's state, or its entry into another quarantine.
   *
   * @param node the node's address
   * @param state the new state
   * @param cause the reason why the node does not vote, or empty if it votes
   */
  void onNode(String node, LockNode.State state, String cause);
}
