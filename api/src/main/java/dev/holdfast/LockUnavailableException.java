package dev.holdfast;

import java.time.Duration;
import java.util.Objects;

/**
 * Somebody else holds the lock, and the wait that was asked for is over. A quorum of nodes
 * answered: nothing is broken.
 */
public final class LockUnavailableException extends LockException {
  private static final long serialVersionUID = 1L;

  private final int granted;
  private final int refused;
  private final int unanswered;
  private final Duration waited;

  /**
   * Says that a lock was not to be had in time.
   *
   * @param name the name of the lock
   * @param granted how many nodes granted the last attempt
   * @param refused how many nodes refused it
   * @param unanswered how many nodes gave no answer in time, or an error
   * @param waited how long the caller waited
   */
  public LockUnavailableException(
      String name, int granted, int refused, int unanswered, Duration waited) {
    super(
        "the lock '"
            + name
            + "' is held by another owner: waited "
            + waited.toMillis()
            + " ms; votes of the last attempt: "
            + granted
            + " granted, "
            + refused
            + " refused, "
            + unanswered
            + " unanswered",
        null);
    this.granted = granted;
    this.refused = refused;
    this.unanswered = unanswered;
    this.waited = Objects.requireNonNull(waited, "waited");
  }

  /**
   * Votes for the last attempt; all three are 0 when a waiter's turn to try never came.
   *
   * @return how many nodes granted it
   */
  public int granted() {
    return granted;
  }

  /**
   * Votes against the last attempt.
   *
   * @return how many nodes refused it
   */
  public int refused() {
    return refused;
  }

  /**
   * Nodes that did not vote in the last attempt.
   *
   * @return how many gave no answer in time, or an error
   */
  public int unanswered() {
    return unanswered;
  }

  /**
   * How long the caller waited.
   *
   * @return the time from the call to this exception
   */
  public Duration waited() {
    return waited;
  }
}
