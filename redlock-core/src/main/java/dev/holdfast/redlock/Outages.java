package dev.holdfast.redlock;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import java.util.LinkedHashMap;
import java.util.Map;

/** What is thrown when votes are missing, or are no votes: contention is told apart from both. */
final class Outages {
  private final Members members;

  Outages(Members members) {
    this.members = members;
  }

  void requireAnswers(String message, Ballot ballot, Tally votes) {
    if (!votes.hasQuorumOfAnswers()) {
      throw noQuorum(message, ballot, votes, false);
    }
  }

  /** An outage; but if mending what is misconfigured would make a quorum, that is what it is. */
  LockException noQuorum(String message, Ballot ballot, Tally votes, boolean outcomeUnknown) {
    Map<String, Throwable> failures = new LinkedHashMap<>();
    NodeException misconfigured = null;
    int toMend = 0;
    for (int node = 0; node < members.size(); node++) {
      Throwable failure = ballot.failure(node);
      if (failure != null) {
        failures.put(members.address(node), failure);
        if (failure instanceof NodeException cause && cause.isMisconfigured()) {
          misconfigured = cause;
          toMend++;
        }
      }
    }
    LockBackendException outage =
        new LockBackendException(
            message + " (" + votes.answered() + " of " + votes.nodes() + " nodes answered)",
            failures,
            outcomeUnknown);
    return misconfigured != null && votes.answered() + toMend >= votes.quorum()
        ? new LockConfigurationException(String.valueOf(outage.getMessage()), misconfigured)
        : outage;
  }

  /** On these nodes (bit i is node i). */
  LockConfigurationException foreign(String key, long nodes) {
    return new LockConfigurationException(
        "the key '"
            + key
            + "' holds no string, so no lock, on "
            + addresses(nodes)
            + ": use another name or keyPrefix, or remove the key");
  }

  private String addresses(long nodes) {
    StringBuilder text = new StringBuilder();
    for (long left = nodes; left != 0; left &= left - 1) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(members.address(Long.numberOfTrailingZeros(left)));
    }
    return text.toString();
  }
}
