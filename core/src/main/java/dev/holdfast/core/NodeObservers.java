package dev.holdfast.core;

import dev.holdfast.LockListener;
import dev.holdfast.LockNode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The observers of one backend: one for each manager over it. For implementations of {@link
 * LockPrimitive#observe}. Safe for use by many threads.
 */
public final class NodeObservers implements NodeObserver {
  private final List<NodeObserver> all = new CopyOnWriteArrayList<>();

  /** Starts without an observer. */
  public NodeObservers() {}

  /**
   * Adds an observer.
   *
   * @param observer receives each vote and change from now on
   */
  public void add(NodeObserver observer) {
    all.add(observer);
  }

  @Override
  public boolean isActive() {
    for (NodeObserver observer : all) {
      if (observer.isActive()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void onVote(String node, LockListener.Vote vote) {
    all.forEach(observer -> observer.onVote(node, vote));
  }

  /**
   * Passes the change on, and writes a node that is down to the flight recorder: once, however many
   * managers observe the node.
   */
  @Override
  public void onNode(String node, LockNode.State state, String cause) {
    if (state == LockNode.State.DOWN) {
      Flight.RECORDER.nodeDown(node, cause);
    }
    all.forEach(observer -> observer.onNode(node, state, cause));
  }
}
