package dev.holdfast.redlock;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.RestartGuard.Node;
import dev.holdfast.redlock.RestartGuard.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Asks each node for its record of the restart guard, and marks new nodes as whole. */
final class GuardedNodes {
  private static final Duration LATE = Duration.ofSeconds(1);

  private final Guard guard;
  private final Members members;
  private final Scheduler scheduler;
  private final Duration quorumTimeout;

  GuardedNodes(Guard guard, Members members, Scheduler scheduler, Duration quorumTimeout) {
    this.guard = guard;
    this.members = members;
    this.scheduler = scheduler;
    this.quorumTimeout = quorumTimeout;
  }

  /** What a node answered, or why it did not. */
  record Look(Node node, String begun, NodeException cause) {
    boolean is(State state) {
      return node.state() == state;
    }
  }

  /**
   * Asks all nodes, which are connected or not.
   *
   * @param toEnd for each node the quarantine to end if it is new, or {@link GuardRecord#NONE}
   * @return completes normally and in time, with one for each node
   */
  CompletableFuture<List<Look>> ask(IntFunction<String> toEnd) {
    CompletableFuture<List<Look>> looks = CompletableFuture.completedFuture(List.of());
    for (int node = 0; node < members.size(); node++) {
      looks =
          looks.thenCombine(
              new Question(node, toEnd.apply(node)).answer(),
              (before, look) -> {
                List<Look> all = new ArrayList<>(before);
                all.add(look);
                return all;
              });
    }
    return looks;
  }

  /**
   * For {@code newNodes=trust}: marks all nodes as whole if all are connected and look new.
   *
   * @return completes normally and in time
   */
  CompletableFuture<Void> trustNew() {
    if (members.reachable(members.all()) != members.all()) {
      return CompletableFuture.completedFuture(null);
    }
    return ask(node -> GuardRecord.NONE)
        .thenCompose(
            looks ->
                looks.stream().allMatch(look -> look.is(State.NEW))
                    ? ask(node -> looks.get(node).begun()).thenAccept(marked -> {})
                    : CompletableFuture.completedFuture(null));
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
      ballot.start(scheduler, quorumTimeout.toNanos());
    }

    CompletableFuture<Look> answer() {
      return ballot
          .decision()
          .thenAccept(done -> {})
          .completeOnTimeout(null, limit(), NANOSECONDS)
          .thenApply(
              done -> {
                Throwable failure = ballot.failure(node);
                GuardRecord record = found.get();
                return failure != null || record == null ? silent(failure) : answered(record);
              });
    }

    /** Longer than the round's own limit, which ends with the manager if that is closed. */
    private long limit() {
      return quorumTimeout.plus(LATE).toNanos();
    }

    private Look answered(GuardRecord record) {
      State state = record.votes() ? State.VOTES : record.isNew() ? State.NEW : State.QUARANTINED;
      return new Look(
          new Node(
              members.address(node),
              state,
              record.votes() ? Duration.ZERO : record.age(),
              record.votes() ? Duration.ZERO : record.left(),
              record.text()),
          record.begun(),
          NodeException.passing(record.text()));
    }

    private Look silent(@Nullable Throwable failure) {
      NodeException cause =
          failure == null ? Members.silent(quorumTimeout.toNanos()) : NodeException.of(failure);
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
