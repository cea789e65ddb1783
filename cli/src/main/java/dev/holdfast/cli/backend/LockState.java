package dev.holdfast.cli.backend;

import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A lock at one time.
 *
 * @param status the holder, or empty if the lock is free or its holder unknown
 * @param outage why the holder is unknown
 */
public record LockState(String name, Optional<LockStatus> status, Optional<String> outage) {
  private static final double MILLIS = 1_000;

  /** The time left below which tenths of a second are shown. */
  private static final Duration SHORT = Duration.ofSeconds(100);

  /**
   * Asks the nodes.
   *
   * @throws LockOutageException if no quorum answers, or if the lock looks free, but no quorum
   *     surely has the keys of all held locks
   */
  public static LockState of(LockManager locks, String name) {
    Optional<LockStatus> status = locks.inspect(name);
    if (status.isEmpty()) {
      requireQuorumOfVotes(locks, name);
    }
    return new LockState(name, status, Optional.empty());
  }

  private static void requireQuorumOfVotes(LockManager locks, String name) {
    List<Node> nodes =
        locks.unwrap(RestartGuardAdmin.class).map(RestartGuardAdmin::nodes).orElse(List.of());
    List<Node> others = nodes.stream().filter(node -> !isSure(node)).toList();
    if (others.size() > (nodes.size() - 1) / 2) {
      throw new LockOutageException(
          "no key of '"
              + name
              + "' was found, but no quorum votes, so it is not known whether the lock is free ("
              + others.stream()
                  .map(node -> node.address() + ": " + node.text())
                  .collect(Collectors.joining("; "))
              + ")",
          Map.of(),
          false);
    }
  }

  /** Returns whether a node has the keys of all locks that may be held. */
  private static boolean isSure(Node node) {
    boolean lostData = node.state() == State.NEW || node.state() == State.QUARANTINED;
    return node.state() == State.VOTES || (lostData && node.left().isZero());
  }

  /** Asks the nodes. An outage is a state, too. */
  public static LockState orOutage(LockManager locks, String name) {
    try {
      return of(locks, name);
    } catch (LockOutageException e) {
      return new LockState(name, Optional.empty(), Optional.of(String.valueOf(e.getMessage())));
    }
  }

  public boolean isFree() {
    return status.isEmpty() && outage.isEmpty();
  }

  /**
   * Returns whether a quorum agrees. If not, the lock is just being acquired or released, or nodes
   * of its quorum are down.
   */
  boolean hasQuorum() {
    return status.map(s -> s.votes().granted() > s.votes().nodes() / 2).orElse(false);
  }

  public Optional<String> owner() {
    return status.map(LockStatus::ownerLabel);
  }

  /** Returns whether two states differ only in their times. */
  public boolean isSameAs(LockState that) {
    return timeless().equals(that.timeless());
  }

  private LockState timeless() {
    return new LockState(
        name,
        status.map(s -> new LockStatus(name, s.ownerLabel(), Duration.ZERO, s.votes())),
        outage.map(words -> "any"));
  }

  public String text() {
    return printable(name) + ": " + String.join("; ", holder(), nodes()).replaceFirst("; $", "");
  }

  /** Returns the holder, or a text in its place. */
  public String holder() {
    if (outage.isPresent()) {
      return "unknown: " + printable(outage.get());
    }
    return status
        .map(
            s ->
                (hasQuorum() ? "held by " : "no quorum agrees, most on ")
                    + printable(s.ownerLabel()))
        .orElse("free");
  }

  /** Returns how many nodes agree, and for how long, or an empty text if there is no holder. */
  public String nodes() {
    return status
        .map(
            s ->
                s.votes().granted()
                    + " of "
                    + s.votes().nodes()
                    + (s.votes().nodes() == 1 ? " node agrees; " : " nodes agree; ")
                    + text(s.remaining())
                    + " left")
        .orElse("");
  }

  /** Returns the members of a JSON object. */
  public Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("state", word());
    status.ifPresent(
        s -> {
          members.put("owner", s.ownerLabel());
          members.put("agreeing", s.votes().granted());
          members.put("nodes", s.votes().nodes());
          members.put("remainingMillis", s.remaining().toMillis());
        });
    outage.ifPresent(words -> members.put("error", words));
    return members;
  }

  private String word() {
    if (outage.isPresent()) {
      return "unknown";
    }
    if (isFree()) {
      return "free";
    }
    return hasQuorum() ? "held" : "no-quorum";
  }

  /** Returns foreign text without characters that a terminal would obey. */
  public static String printable(String foreign) {
    return foreign.replaceAll("\\R\\s*", " ").replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }

  public static String text(Duration remaining) {
    return remaining.compareTo(SHORT) < 0
        ? String.format(Locale.ROOT, "%.1f s", remaining.toMillis() / MILLIS)
        : remaining
            .truncatedTo(ChronoUnit.SECONDS)
            .toString()
            .substring(2)
            .toLowerCase(Locale.ROOT);
  }
}
