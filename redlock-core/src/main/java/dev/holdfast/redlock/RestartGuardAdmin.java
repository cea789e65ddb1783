package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.GuardRecords.NodeReport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The restart guard of a Redlock manager, for operators: it shows which nodes vote, and lets new
 * nodes vote at once. {@code manager.unwrap(RestartGuardAdmin.class)} returns it, or nothing if the
 * option {@code restartGuard} is off.
 *
 * <p>Each call connects first if the manager has not connected yet, and is bounded by {@code
 * connectTimeout} and {@code quorumTimeout}.
 */
public final class RestartGuardAdmin {
  private final GuardRecords guardRecords;
  private final Supplier<CompletableFuture<Void>> opening;

  /**
   * Makes the view of one manager.
   *
   * @param opening connects the manager, as its first request for a lock does
   */
  RestartGuardAdmin(GuardRecords guardRecords, Supplier<CompletableFuture<Void>> opening) {
    this.guardRecords = guardRecords;
    this.opening = opening;
  }

  /** The state of a node: whether it votes, and if not, why. */
  public enum State {
    /** The node has all its data and votes. */
    VOTES,
    /** The node had no guard record: it has never voted, or has lost all its data. */
    NEW,
    /** The node voted before and came back without its data. */
    QUARANTINED,
    /** The node belongs to clients that gave another maxTtl, number of nodes or cluster. */
    FOREIGN,
    /** The node does not answer, or answers with an error. */
    UNREACHABLE
  }

  /**
   * One node, as it answered.
   *
   * @param address as {@code host:port}
   * @param state whether it votes
   * @param age for how long it has been known not to vote, or zero unless it is new or in
   *     quarantine
   * @param left until it votes, or zero unless it is new or in quarantine
   * @param text the same in words, with the cause if it cannot vote
   */
  public record Node(String address, State state, Duration age, Duration left, String text) {}

  /**
   * Asks all nodes for their state.
   *
   * @return one for each, in the order of the URL
   */
  public List<Node> nodes() {
    return ask(node -> NodeGuardState.NONE).stream().map(NodeReport::node).toList();
  }

  /**
   * Lets new nodes vote at once, which otherwise would wait for as long as locks can last. Call it
   * only for nodes that have never voted: only the caller can know that they have not all lost
   * their data. Does nothing if all nodes vote already.
   *
   * @throws LockOutageException if a node does not answer, or votes already or has lost its data
   *     while others are new. No node was initialised then. Also if a node could not be
   *     initialised: {@link LockOutageException#isOutcomeUnknown} is true then
   * @throws LockConfigurationException if a node belongs to other clients. No node was initialised
   *     then
   */
  public void init() {
    init(nodes -> true);
  }

  /**
   * Does the same as {@link #init()}, after asking for consent. A node that has changed by the time
   * of the consent is not initialised.
   *
   * @param wanted called with the nodes once, and only if all look new
   * @return false without consent: no node was initialised then
   */
  public boolean init(Predicate<? super List<Node>> wanted) {
    List<NodeReport> reports = ask(node -> NodeGuardState.NONE);
    if (reports.stream().allMatch(report -> report.is(State.VOTES))) {
      return true;
    }
    requireNew(reports);
    if (!wanted.test(reports.stream().map(NodeReport::node).toList())) {
      return false;
    }
    List<NodeReport> marked = ask(node -> reports.get(node).begun());
    if (!marked.stream().allMatch(report -> report.is(State.VOTES))) {
      throw new LockOutageException(
          "not all nodes were initialised: the others vote when their quarantine is over",
          others(marked, State.VOTES),
          true);
    }
    return true;
  }

  private static void requireNew(List<NodeReport> reports) {
    Map<String, Throwable> others = others(reports, State.NEW);
    if (reports.stream().anyMatch(report -> report.is(State.FOREIGN))) {
      throw new LockConfigurationException(
          "no node was initialised: some nodes belong to other clients: " + described(others));
    }
    if (reports.stream().anyMatch(report -> report.is(State.UNREACHABLE))) {
      throw new LockOutageException(
          "no node was initialised: not all nodes answer; check them and try again", others, false);
    }
    if (!others.isEmpty()) {
      Duration left =
          reports.stream()
              .map(report -> report.node().left())
              .max(Duration::compareTo)
              .orElseThrow();
      throw new LockOutageException(
          "no node was initialised: some nodes are not new, so locks may be held; wait "
              + (left.toSeconds() + 1)
              + " s, and all vote",
          causes(reports.stream()),
          false);
    }
  }

  private static Map<String, Throwable> others(List<NodeReport> reports, State state) {
    return causes(reports.stream().filter(report -> !report.is(state)));
  }

  private static Map<String, Throwable> causes(Stream<NodeReport> reports) {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    reports.forEach(report -> causes.put(report.node().address(), report.cause()));
    return causes;
  }

  private static String described(Map<String, Throwable> nodes) {
    return nodes.entrySet().stream()
        .map(node -> node.getKey() + ": " + node.getValue().getMessage())
        .collect(Collectors.joining("; "));
  }

  private List<NodeReport> ask(IntFunction<String> toEnd) {
    opening.get().join();
    return guardRecords.ask(toEnd).join();
  }
}
