package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections to all nodes. Rounds pass through here, so that each node's unanswered commands
 * are counted, and so that rounds are held back while a connection is made or replaced.
 */
public final class NodeConnections {
  private final RedisNodes nodes;
  private final RedisConnections commands;
  private final Clock clock;
  private final long nodeTimeoutNanos;
  private final NodeSet all;
  private final AtomicInteger epoch = new AtomicInteger();
  private final NodeState[] states;
  private final NodeHealth health;
  private final NodeConnector connector;
  private final SilenceWatch silence;
  private final LastAnswers lastAnswers;
  private volatile long lastQuorumNanos;

  /**
   * Connects nothing yet.
   *
   * @param commands the connections that carry the commands, one to each of these nodes
   */
  public NodeConnections(
      RedisNodes nodes, RedisConnections commands, AlgorithmOptions options, Scheduler scheduler) {
    this.nodes = nodes;
    this.commands = commands;
    this.clock = options.clock();
    this.nodeTimeoutNanos = options.nodeTimeout().toNanos();
    List<String> addresses = nodes.addresses();
    long silenceNanos = options.silenceLimit().toNanos();
    this.states =
        addresses.stream()
            .map(a -> new NodeState(a, NodeConnector.RECONNECT_NANOS, silenceNanos, epoch))
            .toArray(NodeState[]::new);
    this.all = NodeSet.all(states.length);
    this.health = new NodeHealth(states, clock);
    this.connector =
        new NodeConnector(nodes, commands, states, options, scheduler, health::onChanged);
    this.silence = new SilenceWatch(states, options, scheduler, connector::fail);
    this.lastAnswers = new LastAnswers(states, options, scheduler);
  }

  /** Sets the source of the rounds that a node gets before all others when it is connected. */
  public void whenConnected(IntFunction<List<Round>> pendingRounds) {
    connector.whenConnected(pendingRounds);
  }

  /**
   * Sets the listener for nodes that go up or down.
   *
   * @param listener does not block, is called twice or in the wrong order now and then, so it asks
   *     {@link #isUp}
   */
  public void whenChanged(IntConsumer listener) {
    connector.whenChanged(listener);
  }

  /**
   * Begins to connect, once.
   *
   * @return completes when every node is up or has failed, or soon after a quorum is up, always
   *     normally and within the timeout
   */
  public CompletableFuture<Void> open() {
    return connector.open();
  }

  /** Returns the states of nodes as operators and observers see them. */
  public NodeHealth health() {
    return health;
  }

  public int size() {
    return states.length;
  }

  public NodeSet all() {
    return all;
  }

  public String address(int node) {
    return states[node].address();
  }

  public boolean isUp(int node) {
    return states[node].isUp();
  }

  /** Tells whether a node is up, or its connection is being made or replaced. */
  public boolean isReachable(int node) {
    return states[node].isReachable();
  }

  /** Returns those of some nodes that are reachable. */
  public NodeSet reachable(NodeSet asked) {
    return asked.filter(this::isReachable);
  }

  /** Returns why a node is not connected. */
  public NodeException cause(int node) {
    return states[node].cause();
  }

  public long now() {
    return clock.nanos();
  }

  /** Returns how long a straggler is waited for, in nanoseconds. */
  public long nodeTimeoutNanos() {
    return nodeTimeoutNanos;
  }

  /** Notes how long after its sending a quorum of nodes has answered a round. */
  public void onQuorumOfAnswers(long nanos) {
    lastQuorumNanos = nanos;
  }

  /** Returns how long the last quorum of answers took, or 0 before the first. */
  public long lastQuorumNanos() {
    return lastQuorumNanos;
  }

  /** Notes the veto by a node's guard record, also a late one, or null if the record is no veto. */
  public void noteTerms(int node, @Nullable NodeException veto) {
    states[node].noteTerms(veto);
  }

  /**
   * Returns the last veto by a node that votes for clients of other terms, whose quorums need not
   * meet ours. The veto is remembered, because it may come later than a quorum of votes, each time.
   *
   * @return null if the node has none
   */
  @Nullable
  public NodeException veto(int node) {
    return states[node].veto();
  }

  /** Tells whether any node has a veto. */
  public boolean isVetoed() {
    for (NodeState state : states) {
      if (state.veto() != null) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the epoch, which begins whenever any node goes up. A round notes it before it is sent.
   * A session that went up later carries its commands only if they were held back for it, and the
   * driver reports the end of that session anyway.
   */
  public int epoch() {
    return epoch.get();
  }

  /**
   * Sends a round to the nodes whose connection is up, and holds it back for the others. If it
   * cannot be held back for a node, it fails there last, because a command that follows a decision
   * must reach every node after this round.
   */
  public void submit(Round round) {
    long now = clock.nanos();
    NodeSet asked = round.nodes().filter(node -> !isHeldBack(node, round, now));
    NodeSet ready = asked.filter(this::isUp);
    if (!ready.isEmpty()) {
      commands.submit(round.to(ready));
    }
    // not by the driver, whose connection may be open before the server is checked
    asked.minus(ready).forEach(node -> round.failure(node, cause(node)));
  }

  /** Starts an operation as {@link RedisNodes#lendThread} does. */
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    return nodes.lendThread(operation);
  }

  private boolean isHeldBack(int node, Round round, long now) {
    silence.onSent(node, now);
    NodeState state = states[node];
    return !state.isUp() && state.holdBack(round.to(NodeSet.of(node)));
  }

  /** Counts an answer of a node, whatever it is. */
  public void onAnswered(int node) {
    states[node].unanswered().onAnswered(clock.nanos());
    if (connector.isClosed()) {
      lastAnswers.onAnswered();
    }
  }

  /**
   * Counts a failure of a node, and ends the connection that the command was sent over, if that
   * lasts.
   *
   * @param sentIn the epoch in which the command was sent
   */
  public void onFailed(int node, int sentIn) {
    onAnswered(node);
    connector.endSoon(node, sentIn);
  }

  /** Checks nodes that let a round's deadline pass, and gives up connections that are silent. */
  public void onDeadline(NodeSet late, long due) {
    long now = clock.nanos();
    late.forEach(node -> silence.onDeadline(node, now, due));
  }

  /** Waits for answers that are due, for a bounded time, and closes the nodes. */
  public void close() {
    try {
      connector.close();
      lastAnswers.await();
    } finally { // also if the user's scheduler throws
      nodes.close();
    }
  }
}
