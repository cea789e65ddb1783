package dev.holdfast.tck.rules;

import dev.holdfast.LockListener;

/** Throws whatever is reported. */
final class ThrowingListener implements LockListener {
  @Override
  public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
    throw new IllegalArgumentException("a listener of the kit throws");
  }

  @Override
  public void onNotGranted(String name, Failure failure, long waited) {
    throw new AssertionError("a listener of the kit throws");
  }

  @Override
  public void onReleased(String name, long leaseId, long held, boolean confirmed) {
    throw new IllegalArgumentException("a listener of the kit throws");
  }

  @Override
  public void onVote(String node, Vote vote) {
    throw new IllegalArgumentException("a listener of the kit throws");
  }
}
