package dev.holdfast.redlock;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.redlock.GuardedNodes.Look;
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
 * The restart guard of a Redlock manager, for operators: which nodes vote, and how new ones are let
 * vote at once. {@code manager.unwrap(RestartGuard.class)} gives it; empty where the option {@code
 * restartGuard} is off.
 *
 * <p>Each call connects first if that has not been done, and is bounded by {@code connectTimeout}
 * and {@code quorumTimeout}.
 */
public final class RestartGuard {
  private final GuardedNodes guarded;
  private final Supplier<CompletableFuture<Void>> opening;

  /**
   * Shows the nodes of a manager.
   *
   * @param opening connects the manager, as its first request for a lock does
   */
  RestartGuard(GuardedNodes guarded, Supplier<CompletableFuture<Void>> opening) {
    this.guarded = guarded;
    this.opening = opening;
  }

  /** Whether a node votes, and if not, why not. */
  public enum State {
    /** Its data is whole: it votes. */
    VOTES,
    /** There was no record on it: it has never voted, or has lost all its data. */
    NEW,
    /** It voted before, and came back without its data. */
    QUARANTINED,
    /** It belongs to clients that gave another maxTtl, number of nodes or cluster. */
    FOREIGN,
    /** It does not answer, or what it answers is an error. */
    UNREACHABLE
  }

  /**
   * One node, as it answered.
   *
   * @param address as {@code host:port}
   * @param state whether it votes
   * @param age for how long it has been known not to vote; zero unless it is new or in quarantine
   * @param left until it votes; zero unless it is new or in quarantine
   * @param text the same for people, with the cause if it cannot vote
   */
  public record Node(String address, State state, Duration age, Duration left, String text) {}

  /**
   * Asks all nodes.
   *
   * @return one for each, in the order of the URL
   */
  public List<Node> nodes() {
    return ask(node -> GuardRecord.NONE).stream().map(Look::node).toList();
  }

  /**
   * Lets new nodes vote at once, which otherwise would wait for as long as locks can last. Only for
   * nodes that have never voted: nobody but the caller can know that they have not all lost their
   * data. Does nothing if all vote already.
   *
   * @throws LockBackendException if a node does not answer, or votes already or has lost its data
   *     while others are new; nothing was marked then. Or if a node could not be marked: {@link
   *     LockBackendException#outcomeUnknown} is true then
   * @throws LockConfigurationException if a node belongs to other clients; nothing was marked then
   */
  public void init() {
    init(nodes -> true);
  }

  /**
   * As {@link #init()}, for those who ask somebody first. A node that has changed by the time of
   * the answer is not marked.
   *
   * @param wanted called with the nodes once, and only if all look new
   * @return false if it was not wanted: nothing was marked then
   */
  public boolean init(Predicate<? super List<Node>> wanted) {
    List<Look> looks = ask(node -> GuardRecord.NONE);
    if (looks.stream().allMatch(look -> look.is(State.VOTES))) {
      return true;
    }
    requireNew(looks);
    if (!wanted.test(looks.stream().map(Look::node).toList())) {
      return false;
    }
    List<Look> marked = ask(node -> looks.get(node).begun());
    if (!marked.stream().allMatch(look -> look.is(State.VOTES))) {
      throw new LockBackendException(
          "not all nodes were marked as whole: the others vote when their quarantine is over",
          others(marked, State.VOTES),
          true);
    }
    return true;
  }

  private static void requireNew(List<Look> looks) {
    Map<String, Throwable> others = others(looks, State.NEW);
    if (looks.stream().anyMatch(look -> look.is(State.FOREIGN))) {
      throw new LockConfigurationException(
          "nothing was marked, for there are nodes of other clients: " + described(others));
    }
    if (looks.stream().anyMatch(look -> look.is(State.UNREACHABLE))) {
      throw new LockBackendException(
          "nothing was marked, for not all nodes answer; see to them and try again", others, false);
    }
    if (!others.isEmpty()) {
      Duration left =
          looks.stream().map(look -> look.node().left()).max(Duration::compareTo).orElseThrow();
      throw new LockBackendException(
          "nothing was marked, for not all nodes look new, so that locks may be held; wait "
              + (left.toSeconds() + 1)
              + " s, and all vote",
          causes(looks.stream()),
          false);
    }
  }

  private static Map<String, Throwable> others(List<Look> looks, State state) {
    return causes(looks.stream().filter(look -> !look.is(state)));
  }

  private static Map<String, Throwable> causes(Stream<Look> looks) {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    looks.forEach(look -> causes.put(look.node().address(), look.cause()));
    return causes;
  }

  private static String described(Map<String, Throwable> nodes) {
    return nodes.entrySet().stream()
        .map(node -> node.getKey() + ": " + node.getValue().getMessage())
        .collect(Collectors.joining("; "));
  }

  private List<Look> ask(IntFunction<String> toEnd) {
    opening.get().join();
    return guarded.ask(toEnd).join();
  }
}
