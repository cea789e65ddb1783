package dev.holdfast.redlock.internal.vote;

import org.jspecify.annotations.Nullable;

/** Reads replies as votes. */
@FunctionalInterface
public interface VoteReader {
  /**
   * Reads the reply of a node.
   *
   * @return null for a reply that is no vote
   */
  @Nullable Vote read(int node, @Nullable Object reply);
}
