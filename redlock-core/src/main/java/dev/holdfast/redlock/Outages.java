package dev.holdfast.redlock;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.core.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

  /** No node votes for clients of other terms, as far as any has ever said. */
  void requireOurTerms(String message) {
    for (int node = 0; node < members.size(); node++) {
      NodeException veto = members.veto(node);
      if (veto != null) {
        String cause = members.address(node) + ": " + veto.getMessage();
        throw new LockConfigurationException(message + ": " + cause + guard.given(), veto);
      }
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
        quarantines.size() == votes.nodes() && quarantines.stream().allMatch(Quarantine::isNew)
            ? allAreNew(quarantines, votes, outcomeUnknown)
            : new LockBackendException(
                message
                    + answered(quarantines, votes)
                    + (vetoed ? "" : untilWhen(quarantines, votes)),
                failures,
                outcomeUnknown);
    return misconfigured != null && (vetoed || votes.answered() + toMend >= votes.quorum())
        ? new LockConfigurationException(
            outage.getMessage() + (vetoed ? guard.given() : ""), misconfigured)
        : outage;
  }

  private static String answered(List<Quarantine> quarantines, Tally votes) {
    return " ("
        + votes.answered()
        + " of "
        + votes.nodes()
        + " nodes "
        + (quarantines.isEmpty()
            ? "answered)"
            : "voted, " + quarantines.size() + " in quarantine)");
  }

  /** Nothing is wrong then, unless they have all lost their data. */
  private LockBackendException allAreNew(
      List<Quarantine> quarantines, Tally votes, boolean outcomeUnknown) {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    for (int node = 0; node < quarantines.size(); node++) {
      Quarantine quarantine = quarantines.get(node);
      causes.put(
          members.address(node),
          NodeException.passing(
              "it looks new; its vote counts in " + Quarantine.seconds(quarantine.left())));
    }
    Duration left = leftUntil(votes.quorum(), quarantines).plus(longest(quarantines));
    return new LockBackendException(
        "no lock yet: "
            + (votes.nodes() == 1
                ? "the node is new, or has lost its data; it begins"
                : "all "
                    + votes.nodes()
                    + " nodes are new, or have all lost their data; they begin")
            + " to vote at "
            + timeIn(left)
            + becauseOfOthers(quarantines)
            + "; if they really are new: "
            + Quarantine.IF_NEW,
        causes,
        outcomeUnknown);
  }

  /** What to say of quarantines if their end is all that a quorum waits for. */
  private String untilWhen(List<Quarantine> quarantines, Tally votes) {
    int missing = votes.quorum() - votes.answered();
    if (missing <= 0 || quarantines.size() < missing) {
      return "";
    }
    if (votes.answered() > 0) {
      return ": no quorum votes before " + timeIn(leftUntil(missing, quarantines));
    }
    Duration left = leftUntil(missing, quarantines).plus(longest(quarantines));
    return ": no quorum votes before "
        + timeIn(left)
        + becauseOfOthers(quarantines)
        + (quarantines.size() == votes.nodes()
            ? ""
            : ", and none before all "
                + votes.nodes()
                + " nodes answer, because no node that did has kept its data");
  }

  private static Duration leftUntil(int count, List<Quarantine> quarantines) {
    return quarantines.stream().map(Quarantine::left).sorted().toList().get(count - 1);
  }

  private static Duration longest(List<Quarantine> quarantines) {
    return quarantines.stream().map(Quarantine::more).max(Duration::compareTo).orElseThrow();
  }

  private static String becauseOfOthers(List<Quarantine> quarantines) {
    return longest(quarantines).isZero()
        ? ""
        : ", because a client with a longer maxTtl asked for locks, too";
  }

  private String timeIn(Duration left) {
    return TIME.format(
        Instant.EPOCH
            .plus(clock.wallMicros(), ChronoUnit.MICROS)
            .plus(left.isNegative() ? Duration.ZERO : left)
            .plusMillis(999) // "before" must not be told too early
            .atZone(ZoneId.systemDefault()));
  }

  /** Null as long as connecting for the first time may well take so long. */
  @Nullable LockBackendException whileConnecting(String name, long begun) {
    if (clock.nanos() - begun < members.nodeTimeoutNanos()) {
      return null;
    }
    Map<String, Throwable> failures = new LinkedHashMap<>();
    for (int node = 0; node < members.size(); node++) {
      if (!members.isUp(node)) {
        failures.put(members.address(node), members.cause(node));
      }
    }
    return new LockBackendException(
        "no quorum was asked for '" + name + "': its nodes are still being connected",
        failures,
        false);
  }

  /** On these nodes (bit i is node i). */
  LockConfigurationException foreign(String key, long nodes) {
    return new LockConfigurationException(
        "the key '"
            + key
            + "' "
            + noLockOn(nodes)
            + ": use another name or keyPrefix, or remove the key");
  }

  /** Returns the words for a key of another type on these nodes (bit i is node i). */
  String noLockOn(long nodes) {
    return "holds no string, so no lock, on " + addresses(nodes);
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
