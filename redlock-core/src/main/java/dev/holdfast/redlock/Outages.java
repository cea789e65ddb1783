package dev.holdfast.redlock;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.core.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is thrown when votes are missing, or are no votes: contention is told apart from both. */
final class Outages {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  private final Members members;
  private final Guard guard;
  private final Clock clock;

  Outages(Members members, Guard guard, Clock clock) {
    this.members = members;
    this.guard = guard;
    this.clock = clock;
  }

  void requireAnswers(String message, Ballot ballot, Tally votes) {
    if (ballot.isVetoed() || !votes.hasQuorumOfAnswers()) {
      throw noQuorum(message, ballot, votes, false);
    }
  }

  /** An outage; but if mending what is misconfigured would make a quorum, that is what it is. */
  LockException noQuorum(String message, Ballot ballot, Tally votes, boolean outcomeUnknown) {
    Map<String, Throwable> failures = new LinkedHashMap<>();
    NodeException misconfigured = null;
    int toMend = 0;
    boolean vetoed = false;
    List<Quarantine> quarantines = new ArrayList<>();
    for (int node = 0; node < members.size(); node++) {
      Throwable failure = ballot.failure(node);
      if (failure != null) {
        failures.put(members.address(node), failure);
        if (failure instanceof NodeException cause && !vetoed) {
          misconfigured = cause.isMisconfigured() ? cause : misconfigured;
          toMend += cause.isMisconfigured() ? 1 : 0;
          vetoed = cause.isVeto();
          if (cause.quarantine() != null) {
            quarantines.add(cause.quarantine());
          }
        }
      }
    }
    LockBackendException outage =
        new LockBackendException(
            message
                + " ("
                + votes.answered()
                + " of "
                + votes.nodes()
                + " nodes answered)"
                + untilWhen(quarantines, votes),
            failures,
            outcomeUnknown);
    return misconfigured != null && (vetoed || votes.answered() + toMend >= votes.quorum())
        ? new LockConfigurationException(
            outage.getMessage() + (vetoed ? guard.given() : ""), misconfigured)
        : outage;
  }

  /** What to say of quarantines if their end is all that a quorum waits for. */
  private String untilWhen(List<Quarantine> quarantines, Tally votes) {
    int missing = votes.quorum() - votes.answered();
    if (missing <= 0 || quarantines.size() < missing) {
      return "";
    }
    Duration left = quarantines.stream().map(Quarantine::left).sorted().toList().get(missing - 1);
    ZonedDateTime end =
        Instant.EPOCH
            .plus(clock.wallMicros(), ChronoUnit.MICROS)
            .plus(left)
            .plusMillis(999) // "before" must not be told too early
            .atZone(ZoneId.systemDefault());
    return ": no quorum votes before "
        + TIME.format(end)
        + (votes.answered() == 0 && quarantines.stream().allMatch(Quarantine::isNew)
            ? "; these nodes look new: holdfast nodes init"
            : "");
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
