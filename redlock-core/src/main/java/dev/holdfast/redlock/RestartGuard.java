package dev.holdfast.redlock;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The restart guard of a Redlock manager, for operators: which nodes vote, and how new ones are let
 * vote at once. {@code manager.unwrap(RestartGuard.class)} gives it; empty where the option {@code
 * restartGuard} is off.
 *
 * <p>Each call connects first if that has not been done, and is bounded by {@code connectTimeout}
 * and {@code nodeTimeout}.
 */
public final class RestartGuard {
  private static final Duration LATE = Duration.ofSeconds(1);

  private final Guard guard;
  private final Members members;
  private final Scheduler scheduler;
  private final Duration nodeTimeout;

  RestartGuard(Guard guard, Members members, Scheduler scheduler, Duration nodeTimeout) {
    this.guard = guard;
    this.members = members;
    this.scheduler = scheduler;
    this.nodeTimeout = nodeTimeout;
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
    members.open().join();
    return IntStream.range(0, members.size())
        .mapToObj(node -> new Question(node, toEnd.apply(node)))
        .toList() // all are asked before the first answer is awaited
        .stream()
        .map(Question::answer)
        .toList();
  }

  /** What a node answered, or why it did not. */
  private record Look(Node node, String begun, NodeException cause) {
    boolean is(State state) {
      return node.state() == state;
    }
  }

  /** To one node alone, because a veto ends a round of several before all have answered. */
  private final class Question {
    private final int node;
    private final Ballot ballot;
    private final AtomicReference<@Nullable GuardRecord> found = new AtomicReference<>();

    Question(int node, String toEnd) {
      this.node = node;
      this.ballot =
          new Ballot(
              members,
              Ballot.Question.of(
                  GuardRecord.command(guard, toEnd),
                  (asked, reply) -> {
                    found.set(GuardRecord.in(reply));
                    return found.get() == null ? null : Answer.MINE;
                  },
                  Tally::isComplete),
              1L << node,
              false);
      ballot.start(scheduler, nodeTimeout.toNanos());
    }

    Look answer() {
      ballot.decision().thenAccept(done -> {}).completeOnTimeout(null, limit(), NANOSECONDS).join();
      Throwable failure = ballot.failure(node);
      GuardRecord record = found.get();
      return failure != null || record == null ? silent(failure) : answered(record);
    }

    /**
     * Longer than the round's own deadline and its second look, which end with the manager if that
     * is closed.
     */
    private long limit() {
      return nodeTimeout.multipliedBy(2).plus(LATE).toNanos();
    }

    private Look answered(GuardRecord record) {
      State state = record.votes() ? State.VOTES : record.isNew() ? State.NEW : State.QUARANTINED;
      Duration age = record.votes() ? Duration.ZERO : record.age();
      return new Look(
          new Node(members.address(node), state, age, record.left(), record.text()),
          record.begun(),
          NodeException.passing(record.text()));
    }

    private Look silent(@Nullable Throwable failure) {
      NodeException cause = failure == null ? members.silent(node) : NodeException.of(failure);
      return new Look(
          new Node(
              members.address(node),
              cause.isVeto() ? State.FOREIGN : State.UNREACHABLE,
              Duration.ZERO,
              Duration.ZERO,
              String.valueOf(cause.getMessage())),
          GuardRecord.NONE,
          cause);
    }
  }
}
