package dev.holdfast;

import java.io.Serializable;

/**
 * The votes of the nodes on one question about a lock. Immutable.
 *
 * @param granted how many nodes voted for the owner in question
 * @param refused how many nodes voted against it
 * @param unanswered how many nodes gave no answer in time, or an error, without stragglers whose
 *     votes were not needed
 */
public record LockVotes(int granted, int refused, int unanswered) implements Serializable {
  /** No node has voted. */
  public static final LockVotes NONE = new LockVotes(0, 0, 0);

  /**
   * Checks the counts.
   *
   * @throws IllegalArgumentException if a count is negative
   */
  public LockVotes {
    if (granted < 0 || refused < 0 || unanswered < 0) {
      throw new IllegalArgumentException(granted + ", " + refused + ", " + unanswered);
    }
  }

  /**
   * Returns how many nodes are counted.
   *
   * @return the sum of the three counts
   */
  public int nodes() {
    return granted + refused + unanswered;
  }

  /**
   * Returns the votes as text for messages.
   *
   * @return for example {@code 1 granted, 2 refused}
   */
  @Override
  public String toString() {
    return granted
        + " granted, "
        + refused
        + " refused"
        + (unanswered == 0 ? "" : ", " + unanswered + " unanswered");
  }
}
