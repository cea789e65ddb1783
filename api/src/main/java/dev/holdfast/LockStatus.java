package dev.holdfast;

import java.time.Duration;
import java.util.Objects;

/**
 * The holder of a lock, as the nodes see it at one time. For operators: it says nothing that a
 * program may build on, because it can have changed before it is read.
 *
 * @param name the name of the lock
 * @param ownerLabel the holder's label; what stands in its place when another library holds the
 *     lock
 * @param remaining how long the holder's keys still live on the nodes that make the quorum; not
 *     negative
 * @param votes nodes that hold this owner's token, nodes that answered otherwise, and nodes that
 *     did not answer; one vote where a backend has no nodes
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
