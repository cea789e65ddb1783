package dev.holdfast.spring;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.holdfast.HeldLock;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The answers of {@link LocksEndpoint}, with times as ISO texts. None contains a token: the value
 * of another library's lock stands in the place of a label, so long random parts are masked. The
 * labels of this process are shown as they are.
 */
final class LocksReport {
  private LocksReport() {}

  /** The managers by the names of their beans. */
  record Managers(Map<String, Manager> managers) {}

  /**
   * The state of one manager, as it knows it.
   *
   * @param nodes null if the manager failed
   * @param leases null if the manager failed
   * @param failure null if the manager shows its nodes and leases
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Manager(
      @Nullable List<Node> nodes, @Nullable List<Held> leases, @Nullable String failure) {}

  /** The state of a node. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Node(
      String address,
      String state,
      String since,
      @Nullable String cause,
      @Nullable String votesAgain) {}

  /** A lock that the manager holds. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Held(
      String name, String owner, String since, String remaining, @Nullable String keptAliveUntil) {}

  /** The answers of the managers that were asked, by the names of their beans. */
  record OneLock(String name, Map<String, Answer> managers) {
    boolean hasFailed() {
      return managers.values().stream().anyMatch(answer -> answer.failure() != null);
    }
  }

  /**
   * The answer of one manager.
   *
   * @param held null if no quorum answered
   * @param failure null if a quorum answered
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Answer(
      @Nullable Boolean held,
      @Nullable String owner,
      @Nullable String remaining,
      @Nullable LockVotes votes,
      @Nullable String failure) {
    /**
     * Makes the answer of a quorum.
     *
     * @param own the locks that the manager holds itself
     */
    static Answer of(Optional<LockStatus> status, List<HeldLock> own) {
      return status
          .map(
              found ->
                  new Answer(
                      true, shown(found, own), found.remaining().toString(), found.votes(), null))
          .orElseGet(() -> new Answer(false, null, null, null, null));
    }

    private static String shown(LockStatus found, List<HeldLock> own) {
      String label = found.ownerLabel();
      return own.stream().anyMatch(lease -> lease.ownerLabel().equals(label))
          ? label
          : RandomParts.masked(label);
    }

    static Answer failed(RuntimeException failure) {
      return new Answer(null, null, null, null, messageOf(failure));
    }
  }

  /** The result of a forced release. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Release(String name, String manager, boolean released, @Nullable String failure) {}

  /** Reports a manager, and its failure if it is a decorator that hides its nodes or leases. */
  static Manager of(LockManager manager) {
    try {
      return new Manager(
          manager.nodes().stream().map(LocksReport::of).toList(),
          manager.leases().stream().map(LocksReport::of).toList(),
          null);
    } catch (RuntimeException e) {
      return new Manager(null, null, messageOf(e));
    }
  }

  static Node of(LockNode node) {
    return new Node(
        node.address(),
        node.state().name(),
        node.since().toString(),
        node.cause().isEmpty() ? null : node.cause(),
        node.votesAgain().map(Instant::toString).orElse(null));
  }

  private static Held of(HeldLock lease) {
    return new Held(
        lease.name(),
        lease.ownerLabel(),
        lease.since().toString(),
        lease.remaining().toString(),
        lease.keptAliveUntil().map(Instant::toString).orElse(null));
  }

  static String messageOf(RuntimeException failure) {
    return Objects.requireNonNullElse(failure.getMessage(), failure.getClass().getName());
  }
}
