package dev.holdfast.tck.rules;

import dev.holdfast.LockListener;
import dev.holdfast.LockNode;
import dev.holdfast.LossReason;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps all that a manager reports to a listener, one text for each call. */
class EventLog implements LockListener {
  private final List<Event> events = new CopyOnWriteArrayList<>();

  /**
   * One call.
   *
   * @param subject the name of the lock, or the address of the node
   * @param leaseId the number of the lease, or 0 for calls that are about none
   * @param text the rest, for example {@code lost EXPIRED}
   */
  record Event(String subject, long leaseId, String text) {}

  private void add(String subject, long leaseId, String text) {
    events.add(new Event(subject, leaseId, text));
  }

  List<Event> events() {
    return List.copyOf(events);
  }

  /** Returns the texts about one lock or node, in their order. */
  List<String> about(String subject) {
    return events.stream()
        .filter(event -> event.subject().equals(subject))
        .map(Event::text)
        .toList();
  }

  @Override
  public void onGranted(String name, long leaseId, long waitedNanos, int votes, int margin) {
    add(name, leaseId, waitedNanos >= 0 && votes > 0 && margin >= 0 ? "granted" : "granted?");
  }

  @Override
  public void onNotGranted(String name, Failure failure, long waitedNanos) {
    add(name, 0, "not granted " + failure);
  }

  @Override
  public void onRenewal(String name, long leaseId, Renewal outcome, long tookNanos) {
    add(name, leaseId, "renewal " + outcome);
  }

  @Override
  public void onReleased(String name, long leaseId, long heldNanos, boolean confirmed) {
    add(name, leaseId, confirmed ? "released" : "released unconfirmed");
  }

  @Override
  public void onTransferred(String name, long leaseId, long heldNanos) {
    add(name, leaseId, heldNanos >= 0 ? "transferred" : "transferred?");
  }

  @Override
  public void onLost(String name, long leaseId, LossReason reason, long heldNanos) {
    add(name, leaseId, "lost " + reason);
  }

  @Override
  public void onOverrun(String name, long leaseId, long overrunNanos) {
    add(name, leaseId, "overrun");
  }

  @Override
  public void onVote(String node, Vote vote) {
    add(node, 0, "vote " + vote);
  }

  @Override
  public void onNode(String node, LockNode.State state, String cause) {
    add(node, 0, "node " + state);
  }
}
