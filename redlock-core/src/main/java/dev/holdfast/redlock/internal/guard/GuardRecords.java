package dev.holdfast.redlock.internal.guard;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.redlock.internal.round.QuorumCall;
import dev.holdfast.redlock.internal.round.VotePolicy;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.NodeSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Reads the guard record of each node, and initialises new nodes. */
public final class GuardRecords {
  private static final Duration MAX_DELAY = Duration.ofSeconds(1);

  private final GuardTerms guard;
  private final NodeConnections connections;
  private final Scheduler scheduler;
  private final Duration quorumTimeout;

  public GuardRecords(
      GuardTerms guard, NodeConnections connections, Scheduler scheduler, Duration quorumTimeout) {
    this.guard = guard;
    this.connections = connections;
    this.scheduler = scheduler;
    this.quorumTimeout = quorumTimeout;
  }

  /** The answer of a node, or the reason why there is none. */
  record NodeReport(Node node, String begun, NodeException cause) {
    boolean is(State state) {
      return node.state() == state;
    }
  }

  /**
   * Asks all nodes, connected or not.
   *
   * @param toEnd for each node the quarantine to end if the node is new, or {@link
   *     NodeGuardState#NONE}
   * @return completes normally and in time, with one report for each node
   */
  CompletableFuture<List<NodeReport>> ask(IntFunction<String> toEnd) {
    CompletableFuture<List<NodeReport>> reports = CompletableFuture.completedFuture(List.of());
    for (int node = 0; node < connections.size(); node++) {
      reports =
          reports.thenCombine(
              new NodeCall(node, toEnd.apply(node)).report(),
              (before, report) -> {
                List<NodeReport> all = new ArrayList<>(before);
                all.add(report);
                return all;
              });
    }
    return reports;
  }

  /**
   * Initialises all nodes for {@code newNodes=trust}, if all are connected and look new.
   *
   * @return completes normally and in time
   */
  public CompletableFuture<Void> trustNew() {
    if (!connections.reachable(connections.all()).equals(connections.all())) {
      return CompletableFuture.completedFuture(null);
    }
    return ask(node -> NodeGuardState.NONE)
        .thenCompose(
            reports ->
                reports.stream().allMatch(report -> report.is(State.NEW))
                    ? ask(node -> reports.get(node).begun()).thenAccept(marked -> {})
                    : CompletableFuture.completedFuture(null));
  }

  /**
   * The call to one node. A round of several nodes would end with the first veto, before all have
   * answered.
   */
  private final class NodeCall {
    private final int node;
    private final QuorumCall call;
    private final AtomicReference<@Nullable NodeGuardState> found = new AtomicReference<>();

    NodeCall(int node, String toEnd) {
      this.node = node;
      this.call =
          new QuorumCall(
              connections,
              NodeGuardState.command(guard, toEnd),
              NodeSet.of(node),
              VotePolicy.of(this::read, Tally::isComplete));
      call.start(scheduler, quorumTimeout.toNanos());
    }

    private @Nullable Vote read(int asked, @Nullable Object reply) {
      found.set(NodeGuardState.in(reply));
      return found.get() == null ? null : Vote.MINE;
    }

    CompletableFuture<NodeReport> report() {
      return call.decision()
          .thenAccept(done -> {})
          .completeOnTimeout(null, limit(), NANOSECONDS)
          .thenApply(
              done -> {
                Throwable failure = call.failure(node);
                NodeGuardState record = found.get();
                return failure != null || record == null ? silent(failure) : answered(record);
              });
    }

    /**
     * Returns a limit longer than that of the round, whose timer stops if the manager is closed.
     */
    private long limit() {
      return quorumTimeout.plus(MAX_DELAY).toNanos();
    }

    private NodeReport answered(NodeGuardState record) {
      State state = record.votes() ? State.VOTES : record.isNew() ? State.NEW : State.QUARANTINED;
      return new NodeReport(
          new Node(
              connections.address(node),
              state,
              record.votes() ? Duration.ZERO : record.age(),
              record.votes() ? Duration.ZERO : record.left(),
              record.text()),
          record.begun(),
          NodeException.passing(record.text()));
    }

    private NodeReport silent(@Nullable Throwable failure) {
      NodeException cause =
          failure == null
              ? NodeException.noAnswerWithin(quorumTimeout.toNanos())
              : NodeException.of(failure);
      return new NodeReport(
          new Node(
              connections.address(node),
              cause.isVeto() ? State.FOREIGN : State.UNREACHABLE,
              Duration.ZERO,
              Duration.ZERO,
              String.valueOf(cause.getMessage())),
          NodeGuardState.NONE,
          cause);
    }
  }
}
