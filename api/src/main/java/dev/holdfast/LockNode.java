package dev.holdfast;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * A node of a backend, as a manager knows it without asking it. A node that hangs is seen only when
 * a command to it is not answered, so that an idle manager shows it as up: {@link LockManager#ping}
 * asks.
 *
 * @param address the address, as errors show it
 * @param state the state
 * @param since when the state began, by the manager's wall clock
 * @param cause the reason why the node does not vote, or empty if it votes or no reason is known
 * @param votesAgain when a node in quarantine can vote again, at the earliest, or empty in other
 *     states
 */
public record LockNode(
    String address, State state, Instant since, String cause, Optional<Instant> votesAgain) {
  /** The state of a node. */
  public enum State {
    /** The node is connected. */
    UP,
    /** The node is not connected, or does not answer. */
    DOWN,
    /** The node is connected, but lost its data, and its vote does not count yet. */
    QUARANTINED,
    /** The manager has not asked the node for anything yet. */
    UNKNOWN
  }

  /** Checks that nothing is null. */
  public LockNode {
    Objects.requireNonNull(address, "address");
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(since, "since");
    Objects.requireNonNull(cause, "cause");
    Objects.requireNonNull(votesAgain, "votesAgain");
  }
}
