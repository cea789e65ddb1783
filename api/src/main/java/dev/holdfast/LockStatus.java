package dev.holdfast;

import java.time.Duration;
import java.util.Objects;

/**
 * Who holds a lock, as the nodes see it at one moment. For operators: it says nothing that a
 * program may build on, because it can have changed before it is read.
 *
 * @param name the name of the lock
 * @param owner the holder's label; what stands in its place when another library holds the lock
 * @param remaining how long the holder's keys still live on the nodes that make the quorum; not
 *     negative
 * @param agreeing how many nodes hold this owner's token
 * @param nodes of how many nodes; 1 where a backend has none
 */
public record LockStatus(String name, String owner, Duration remaining, int agreeing, int nodes) {
  /** Checks that nothing is null. */
  public LockStatus {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(owner, "owner");
    Objects.requireNonNull(remaining, "remaining");
  }
}
