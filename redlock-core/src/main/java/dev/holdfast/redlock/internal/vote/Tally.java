package dev.holdfast.redlock.internal.vote;

import dev.holdfast.LossReason;
import dev.holdfast.redlock.spi.NodeSet;

/**
 * The votes of one round at one time. Immutable.
 *
 * @param nodes how many there are, asked or not
 * @param mine nodes whose key holds our token
 * @param other nodes whose key holds another token
 * @param missing nodes without the key
 * @param wrongType nodes whose key is no string
 * @param failed nodes that did not vote and will not
 * @param pending nodes that have not voted yet
 */
public record Tally(
    int nodes,
    NodeSet mine,
    NodeSet other,
    NodeSet missing,
    NodeSet wrongType,
    NodeSet failed,
    NodeSet pending) {

  /** Returns the tally of a round before any vote. */
  public static Tally before(int nodes, NodeSet asked) {
    return new Tally(
        nodes, NodeSet.NONE, NodeSet.NONE, NodeSet.NONE, NodeSet.NONE, NodeSet.NONE, asked);
  }

  /** Returns more than half of all configured nodes, reachable or not. */
  public static int quorumOf(int nodes) {
    return nodes / 2 + 1;
  }

  /** Adds the vote of some nodes, each of which was pending or had failed. */
  public Tally withVotes(NodeSet voters, Vote vote) {
    return new Tally(
        nodes,
        vote == Vote.MINE ? mine.union(voters) : mine,
        vote == Vote.OTHER ? other.union(voters) : other,
        vote == Vote.MISSING ? missing.union(voters) : missing,
        vote == Vote.WRONG_TYPE ? wrongType.union(voters) : wrongType,
        failed.minus(voters),
        pending.minus(voters));
  }

  /** Notes that some nodes, each of which was pending, will not vote. */
  public Tally withFailures(NodeSet silent) {
    return new Tally(
        nodes, mine, other, missing, wrongType, failed.union(silent), pending.minus(silent));
  }

  public int quorum() {
    return quorumOf(nodes);
  }

  /** Returns the nodes that voted, for or against. */
  public NodeSet voters() {
    return mine.union(refusing());
  }

  private NodeSet refusing() {
    return other.union(missing).union(wrongType);
  }

  public int granted() {
    return mine.size();
  }

  public int refused() {
    return refusing().size();
  }

  public int answered() {
    return granted() + refused();
  }

  /** Counts the nodes that failed, but a node whose vote is pending is none of them. */
  public int unanswered() {
    return failed.size();
  }

  /** Returns how many more nodes can fail before a round of the same kind has no quorum. */
  public int margin() {
    return granted() + waitingFor() - quorum();
  }

  public boolean isGranted() {
    return granted() >= quorum();
  }

  /** Tells whether a quorum says that the lock is not ours. */
  public boolean isDenied() {
    return refused() >= quorum();
  }

  /** Returns why a lease is lost that a quorum denies. */
  public LossReason lossReason() {
    return other.union(wrongType).isEmpty() ? LossReason.REMOVED : LossReason.TAKEN;
  }

  /** Tells whether a quorum voted, so that there is no outage. */
  public boolean hasQuorumOfAnswers() {
    return answered() >= quorum();
  }

  /**
   * Tells whether the lock is granted, or refused by a quorum of votes that no further vote can
   * turn into a grant. An outage is not decided early, here and below, because its error names
   * every node that does not answer.
   */
  public boolean isGrantDecided() {
    return isGranted() || (granted() + waitingFor() < quorum() && hasQuorumOfAnswers());
  }

  /** Tells whether the extension is granted or denied. */
  public boolean isExtensionDecided() {
    return isGranted() || isDenied();
  }

  /** Tells whether a quorum denies the release, or voted and can no longer deny it. */
  public boolean isReleaseDecided() {
    return isDenied() || (hasQuorumOfAnswers() && refused() + waitingFor() < quorum());
  }

  /** Tells whether a quorum has voted, or can no longer vote: only stragglers are missing. */
  public boolean missesStragglersOnly() {
    return hasQuorumOfAnswers() || (!failed.isEmpty() && answered() + waitingFor() < quorum());
  }

  public boolean isComplete() {
    return pending.isEmpty();
  }

  private int waitingFor() {
    return pending.size();
  }
}
