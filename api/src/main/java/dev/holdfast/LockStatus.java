package dev.holdfast;

import java.time.Duration;
import java.util.Objects;

/**
 * The holder of a lock, as the nodes see it at one time. For operators: a program must not depend
 * on it, because it may have changed before it is read.
 *
 * @param name the name of the lock
 * @param ownerLabel the holder's label, or the value of the key if another library holds the lock
 * @param remaining how long the holder's keys still live on the nodes that make the quorum, not
 *     negative
 * @param votes nodes that hold this owner's token, nodes with another answer, and nodes that did
 *     not answer, or one vote if the backend has no nodes
 */
public record LockStatus(String name, String ownerLabel, Duration remaining, LockVotes votes) {
  /** Checks that nothing is null. */
  public LockStatus {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(ownerLabel, "ownerLabel");
    Objects.requireNonNull(remaining, "remaining");
    Objects.requireNonNull(votes, "votes");
  }
}
