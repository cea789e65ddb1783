package dev.holdfast.redlock.internal.lock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.Clock;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.spi.NodeSet;
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

/** Makes the errors for missing votes, and tells outages from contention and misconfiguration. */
final class QuorumFailures {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  private final NodeConnections connections;
  private final GuardTerms guard;
  private final Clock clock;

  QuorumFailures(NodeConnections connections, GuardTerms guard, Clock clock) {
    this.connections = connections;
    this.guard = guard;
    this.clock = clock;
  }

  void requireAnswers(String message, QuorumCall call, Tally votes) {
    if (call.isVetoed() || !votes.hasQuorumOfAnswers()) {
      throw noQuorum(message, call, votes, false);
    }
  }

  /**
   * Throws if a node that is up has ever vetoed this client: nodes do not vote for clients of other
   * terms.
   */
  void requireOurTerms(String message) {
    for (int node = 0; node < connections.size(); node++) {
      NodeException veto = connections.veto(node);
      if (veto != null) {
        String cause = connections.address(node) + ": " + veto.getMessage();
        throw new LockConfigurationException(message + ": " + cause + guard.describe(), veto);
      }
    }
  }

  /**
   * Makes an outage, or an error of configuration if the misconfigured nodes, once corrected, would
   * make a quorum.
   */
  LockException noQuorum(String message, QuorumCall call, Tally votes, boolean outcomeUnknown) {
    Map<String, Throwable> failures = new LinkedHashMap<>();
    NodeException misconfigured = null;
    int misconfiguredNodes = 0;
    boolean vetoed = false;
    List<Quarantine> quarantines = new ArrayList<>();
    for (int node = 0; node < connections.size(); node++) {
      Throwable failure = call.failure(node);
      if (failure != null) {
        failures.put(connections.address(node), failure);
        if (failure instanceof NodeException cause && !vetoed) {
          misconfigured = cause.isMisconfigured() ? cause : misconfigured;
          misconfiguredNodes += cause.isMisconfigured() ? 1 : 0;
          vetoed = cause.isVeto();
          if (cause.quarantine() != null) {
            quarantines.add(cause.quarantine());
          }
        }
      }
    }
    LockOutageException outage =
        quarantines.size() == votes.nodes() && quarantines.stream().allMatch(Quarantine::isNew)
            ? allAreNew(quarantines, votes, outcomeUnknown)
            : new LockOutageException(
                message
                    + answered(quarantines, votes)
                    + (vetoed ? "" : untilWhen(quarantines, votes)),
                failures,
                outcomeUnknown);
    return misconfigured != null
            && (vetoed || votes.answered() + misconfiguredNodes >= votes.quorum())
        ? new LockConfigurationException(
            outage.getMessage() + (vetoed ? guard.describe() : ""), misconfigured)
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

  /** Makes the outage of nodes that are all new, or have all lost their data. */
  private LockOutageException allAreNew(
      List<Quarantine> quarantines, Tally votes, boolean outcomeUnknown) {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    for (int node = 0; node < quarantines.size(); node++) {
      Quarantine quarantine = quarantines.get(node);
      causes.put(
          connections.address(node),
          NodeException.passing(
              "it looks new; its vote counts in " + Quarantine.seconds(quarantine.left())));
    }
    Duration left = leftUntil(votes.quorum(), quarantines).plus(longest(quarantines));
    return new LockOutageException(
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

  /** Describes the quarantines, if a quorum waits only for their end. */
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
            .plusMillis(999) // the message says "before": round up
            .atZone(ZoneId.systemDefault()));
  }

  /**
   * Makes the outage of a manager that is still connecting, or null as long as connecting may well
   * take so long.
   */
  @Nullable LockOutageException whileConnecting(String name, long begun) {
    if (clock.nanos() - begun < connections.nodeTimeoutNanos()) {
      return null;
    }
    Map<String, Throwable> failures = new LinkedHashMap<>();
    for (int node = 0; node < connections.size(); node++) {
      if (!connections.isUp(node)) {
        failures.put(connections.address(node), connections.cause(node));
      }
    }
    return new LockOutageException(
        "no quorum was asked for '" + name + "': its nodes are still being connected",
        failures,
        false);
  }

  /** Makes the error of a key of another type on some nodes. */
  LockConfigurationException foreign(String key, NodeSet nodes) {
    return new LockConfigurationException(
        "the key '"
            + key
            + "' "
            + noLockOn(nodes)
            + ": use another name or keyPrefix, or remove the key");
  }

  /** Describes a key of another type on some nodes. */
  String noLockOn(NodeSet nodes) {
    return "holds no string, so no lock, on " + addresses(nodes);
  }

  private String addresses(NodeSet nodes) {
    StringBuilder text = new StringBuilder();
    nodes.forEach(
        node -> text.append(text.isEmpty() ? "" : ", ").append(connections.address(node)));
    return text.toString();
  }
}
