package dev.holdfast.redlock;

import dev.holdfast.LossReason;

/**
 * The votes of one round at one moment. Immutable.
 *
 * @param nodes how many there are, asked or not
 * @param mine nodes whose key holds our token
 * @param other nodes whose key holds another token
 * @param missing nodes without the key
 * @param wrongType nodes whose key is no string
 * @param failed nodes that did not vote and will not
 * @param pending nodes that have not voted yet
 */
record Tally(
    int nodes,
    NodeSet mine,
    NodeSet other,
    NodeSet missing,
    NodeSet wrongType,
    NodeSet failed,
    NodeSet pending) {

  /** Returns the tally of a round before any vote. */
  static Tally before(int nodes, NodeSet asked) {
    return new Tally(
        nodes, NodeSet.NONE, NodeSet.NONE, NodeSet.NONE, NodeSet.NONE, NodeSet.NONE, asked);
  }

  /** Returns more than half of all configured nodes, reachable or not. */
  static int quorumOf(int nodes) {
    return nodes / 2 + 1;
  }

  /** Adds the vote of some nodes, each of which was pending or had failed. */
  Tally withVotes(NodeSet voters, Vote vote) {
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
  Tally withFailures(NodeSet silent) {
    return new Tally(
        nodes, mine, other, missing, wrongType, failed.union(silent), pending.minus(silent));
  }

  int quorum() {
    return quorumOf(nodes);
  }

  /** Returns the nodes that voted, for or against. */
  NodeSet voters() {
    return mine.union(refusing());
  }

  private NodeSet refusing() {
    return other.union(missing).union(wrongType);
  }

  int granted() {
    return mine.size();
  }

  int refused() {
    return refusing().size();
  }

  int answered() {
    return granted() + refused();
  }

  /** Counts the nodes that failed, but a node whose vote is pending is none of them. */
  int unanswered() {
    return failed.size();
  }

  /** Returns how many more nodes can fail before a round of the same kind has no quorum. */
  int margin() {
    return granted() + waitingFor() - quorum();
  }

  boolean isGranted() {
    return granted() >= quorum();
  }

  /** Tells whether a quorum says that the lock is not ours. */
  boolean isDenied() {
    return refused() >= quorum();
  }

  /** Returns why a lease is lost that a quorum denies. */
  LossReason lossReason() {
    return other.union(wrongType).isEmpty() ? LossReason.REMOVED : LossReason.TAKEN;
  }

  /** Tells whether a quorum voted, so that there is no outage. */
  boolean hasQuorumOfAnswers() {
    return answered() >= quorum();
  }

  /**
   * Tells whether the lock is granted, or refused by a quorum of votes that no further vote can
   * turn into a grant. An outage is not decided early, here and below, because its error names
   * every node that does not answer.
   */
  boolean isGrantDecided() {
    return isGranted() || (granted() + waitingFor() < quorum() && hasQuorumOfAnswers());
  }

  /** Tells whether the extension is granted or denied. */
  boolean isExtensionDecided() {
    return isGranted() || isDenied();
  }

  /** Tells whether a quorum denies the release, or voted and can no longer deny it. */
  boolean isReleaseDecided() {
    return isDenied() || (hasQuorumOfAnswers() && refused() + waitingFor() < quorum());
  }

  /** Tells whether a quorum has voted, or can no longer vote: only stragglers are missing. */
  boolean missesStragglersOnly() {
    return hasQuorumOfAnswers() || (!failed.isEmpty() && answered() + waitingFor() < quorum());
  }

  boolean isComplete() {
    return pending.isEmpty();
  }

  private int waitingFor() {
    return pending.size();
  }
}
