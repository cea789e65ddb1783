package dev.holdfast.legacy.migrate;

import dev.holdfast.LockNode;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.NodeObserver;
import dev.holdfast.core.SingleNode;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one of the two locks of a migration.
 *
 * @param locks the lock
 * @param only the node of a backend that shows none, or null if the backend shows its nodes
 */
record SideNodes(LockPrimitive locks, @Nullable SingleNode only) {
  static SideNodes of(LockPrimitive locks, Clock clock) {
    return new SideNodes(
        locks, locks.nodes().isEmpty() ? new SingleNode(locks.address(), clock) : null);
  }

  /** Notes what an attempt says of the node. */
  void onAttempted(@Nullable Outcome outcome, @Nullable Throwable failure) {
    if (only != null) {
      only.onAttempted(outcome, failure);
    }
  }

  /** Notes what an extension says of the node. */
  void onExtended(@Nullable Extension outcome, @Nullable Throwable failure) {
    if (only != null) {
      only.onExtended(outcome, failure);
    }
  }

  /** Asks the lock, and notes what the answer says of the node. */
  CompletableFuture<Boolean> ping(String name) {
    CompletableFuture<Boolean> answered = locks.ping(name);
    return only == null
        ? answered
        : answered.whenComplete((answers, failure) -> only.onPinged(answers));
  }

  void observe(NodeObserver observer) {
    if (only == null) {
      locks.observe(observer);
    } else {
      only.observe(observer);
    }
  }

  Stream<LockNode> all() {
    return (only == null ? locks.nodes() : only.nodes()).stream();
  }
}
