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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The answers of {@link LocksEndpoint}, with times as ISO texts. None contains a token: the value
 * of another library's lock stands in the place of a label, so long random parts are masked.
 */
final class LocksReport {
  /** Matches UUIDs, and 20 or more characters of hex or Base64. */
  private static final Pattern RANDOM =
      Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}|[A-Za-z0-9+/=_]{20,}");

  private LocksReport() {}

  /** The managers by the names of their beans. */
  record Managers(Map<String, Manager> managers) {}

  /** The state of one manager, as it knows it. */
  record Manager(List<Node> nodes, List<Held> leases) {}

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
    static Answer of(Optional<LockStatus> status) {
      return status
          .map(
              found ->
                  new Answer(
                      true,
                      masked(found.ownerLabel()),
                      found.remaining().toString(),
                      found.votes(),
                      null))
          .orElseGet(() -> new Answer(false, null, null, null, null));
    }

    static Answer failed(RuntimeException failure) {
      return new Answer(null, null, null, null, messageOf(failure));
    }
  }

  /** The result of a forced release. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Release(String name, String manager, boolean released, @Nullable String failure) {}

  static Manager of(LockManager manager) {
    return new Manager(
        manager.nodes().stream().map(LocksReport::of).toList(),
        manager.leases().stream().map(LocksReport::of).toList());
  }

  private static Node of(LockNode node) {
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
        masked(lease.ownerLabel()),
        lease.since().toString(),
        lease.remaining().toString(),
        lease.keptAliveUntil().map(Instant::toString).orElse(null));
  }

  static String messageOf(RuntimeException failure) {
    return Objects.requireNonNullElse(failure.getMessage(), failure.getClass().getName());
  }

  private static String masked(String label) {
    return RANDOM.matcher(label).replaceAll("…");
  }
}
