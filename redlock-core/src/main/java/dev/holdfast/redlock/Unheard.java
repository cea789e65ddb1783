package dev.holdfast.redlock;

import org.jspecify.annotations.Nullable;

/** Where answers go that nobody asked for: they show that a node is there, and no more. */
record Unheard(Members members) implements Round.Answers {
  @Override
  public void reply(int node, @Nullable Object reply) {
    members.heardFrom(node);
  }

  @Override
  public void error(int node, String error) {
    members.heardFrom(node);
  }

  @Override
  public void failure(int node, Throwable cause) {
    members.failedAt(node);
  }

  @Override
  public boolean decided() {
    return true;
  }
}
