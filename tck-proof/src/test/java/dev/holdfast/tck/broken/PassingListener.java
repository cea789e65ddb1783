package dev.holdfast.tck.broken;

import dev.holdfast.LockListener;
import dev.holdfast.LockNode;
import dev.holdfast.LossReason;

/** Passes everything on to a listener. */
class PassingListener implements LockListener {
  private final LockListener right;

  PassingListener(LockListener right) {
    this.right = right;
  }

  @Override
  public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
    right.onGranted(name, leaseId, waited, votes, margin);
  }

  @Override
  public void onNotGranted(String name, Failure failure, long waited) {
    right.onNotGranted(name, failure, waited);
  }

  @Override
  public void onRenewal(String name, long leaseId, Renewal outcome, long took) {
    right.onRenewal(name, leaseId, outcome, took);
  }

  @Override
  public void onReleased(String name, long leaseId, long held, boolean confirmed) {
    right.onReleased(name, leaseId, held, confirmed);
  }

  @Override
  public void onTransferred(String name, long leaseId, long held) {
    right.onTransferred(name, leaseId, held);
  }

  @Override
  public void onLost(String name, long leaseId, LossReason reason, long held) {
    right.onLost(name, leaseId, reason, held);
  }

  @Override
  public void onOverrun(String name, long leaseId, long overrun) {
    right.onOverrun(name, leaseId, overrun);
  }

  @Override
  public void onVote(String node, Vote vote) {
    right.onVote(node, vote);
  }

  @Override
  public void onNode(String node, LockNode.State state, String cause) {
    right.onNode(node, state, cause);
  }

  @Override
  public void onLoad(int waiting, int inFlight) {
    right.onLoad(waiting, inFlight);
  }
}
