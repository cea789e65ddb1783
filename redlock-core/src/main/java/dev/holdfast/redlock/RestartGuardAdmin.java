package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/**
 * The restart guard of a Redlock manager, for operators: it shows which nodes vote, and lets new
 * nodes vote at once. {@code manager.unwrap(RestartGuardAdmin.class)} returns it, or nothing if the
 * option {@code restartGuard} is off.
 *
 * <p>Each call connects first if the manager has not connected yet, and is bounded by {@code
 * connectTimeout} and {@code quorumTimeout}.
 */
public interface RestartGuardAdmin {
  /** The state of a node: whether it votes, and if not, why. */
  enum State {
    /** The node has all its data and votes. */
    VOTES,
    /** The node had no guard record: it has never voted, or has lost all its data. */
    NEW,
    /** The node voted before and came back without its data. */
    QUARANTINED,
    /** The node belongs to clients that gave another maxTtl, number of nodes or cluster. */
    FOREIGN,
    /** The node does not answer, or answers with an error. */
    UNREACHABLE
  }

  /**
   * One node, as it answered.
   *
   * @param address as {@code host:port}
   * @param state whether it votes
   * @param age for how long it has been known not to vote, or zero unless it is new or in
   *     quarantine
   * @param left until it votes, or zero unless it is new or in quarantine
   * @param text the same in words, with the cause if it cannot vote
   */
  record Node(String address, State state, Duration age, Duration left, String text) {}

  /**
   * Asks all nodes for their state.
   *
   * @return one for each, in the order of the URL
   */
  List<Node> nodes();

  /**
   * Lets new nodes vote at once, which otherwise would wait for as long as locks can last. Call it
   * only for nodes that have never voted: only the caller can know that they have not all lost
   * their data. Does nothing if all nodes vote already.
   *
   * @throws LockOutageException if a node does not answer, or votes already or has lost its data
   *     while others are new. No node was initialised then. Also if a node could not be
   *     initialised: {@link LockOutageException#isOutcomeUnknown} is true then
   * @throws LockConfigurationException if a node belongs to other clients. No node was initialised
   *     then
   */
  void init();

  /**
   * Does the same as {@link #init()}, after asking for consent. A node that has changed by the time
   * of the consent is not initialised.
   *
   * @param wanted called with the nodes once, and only if all look new
   * @return false without consent: no node was initialised then
   */
  boolean init(Predicate<? super List<Node>> wanted);
}
