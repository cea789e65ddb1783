package dev.holdfast.redlock;

/**
 * The votes of one round at one moment, as sets of nodes (bit i is node i). Immutable.
 *
 * @param nodes how many there are, asked or not
 * @param mine said that the key holds our token
 * @param other said that it holds another
 * @param missing said that it is not there
 * @param wrongType said that it is no string
 * @param failed gave no answer, and will give none
 * @param pending have not answered yet
 */
record Tally(
    int nodes, long mine, long other, long missing, long wrongType, long failed, long pending) {

  /** More than half of all nodes that are configured, whether they can be reached or not. */
  static int quorumOf(int nodes) {
    return nodes / 2 + 1;
  }

  /** The same, with the vote of a node that had failed. */
  Tally withVoteOf(int node, Answer answer) {
    long vote = 1L << node;
    return new Tally(
        nodes,
        mine | (answer == Answer.MINE ? vote : 0),
        other | (answer == Answer.OTHER ? vote : 0),
        missing | (answer == Answer.MISSING ? vote : 0),
        wrongType | (answer == Answer.WRONG_TYPE ? vote : 0),
        failed & ~vote,
        pending);
  }

  int quorum() {
    return quorumOf(nodes);
  }

  int granted() {
    return Long.bitCount(mine);
  }

  int refused() {
    return Long.bitCount(other | missing | wrongType);
  }

  int answered() {
    return granted() + refused();
  }

  /** Nodes that failed; a node whose vote is still to come did not fail to answer. */
  int unanswered() {
    return Long.bitCount(failed);
  }

  boolean isGranted() {
    return granted() >= quorum();
  }

  /** A quorum says that the lock is not ours. */
  boolean isDenied() {
    return refused() >= quorum();
  }

  /** Enough answers to know that nothing is broken. */
  boolean hasQuorumOfAnswers() {
    return answered() >= quorum();
  }

  /**
   * Granted, or contention that no further answer can make a grant. What is to be an outage is not
   * decided early, here and below: it is to name every node that does not answer.
   */
  boolean isGrantDecided() {
    return isGranted() || (granted() + waitingFor() < quorum() && hasQuorumOfAnswers());
  }

  /** Granted or denied. */
  boolean isExtensionDecided() {
    return isGranted() || isDenied();
  }

  /** A loss, or a quorum of answers that no further one can make a loss. */
  boolean isReleaseDecided() {
    return isDenied() || (hasQuorumOfAnswers() && refused() + waitingFor() < quorum());
  }

  /** Whether waiting longer cannot turn the answers into a quorum, or they are one already. */
  boolean missesStragglersOnly() {
    return hasQuorumOfAnswers() || (failed != 0 && answered() + waitingFor() < quorum());
  }

  boolean isComplete() {
    return pending == 0;
  }

  private int waitingFor() {
    return Long.bitCount(pending);
  }
}
