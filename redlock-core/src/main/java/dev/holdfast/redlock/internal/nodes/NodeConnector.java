package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redis.ServerInfo;
import dev.holdfast.redis.TlsMismatch;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Connects nodes, checks their servers and reconnects them forever. Logs one warning when a node
 * goes down and one line when it is back.
 */
public final class NodeConnector {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  /**
   * Nanoseconds from the beginning of one session to that of the next, except after a connection
   * that broke for the first time in this period. So a node is connected again well within two
   * seconds of its return.
   */
  public static final long RECONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Nanoseconds that eager opening waits for stragglers after a quorum, to find mistakes. */
  private static final long STRAGGLERS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final RedisNodes nodes;
  private final RedisConnections commands;
  private final NodeState[] states;
  private final Clock clock;
  private final Scheduler scheduler;
  private final long quorumTimeoutNanos;
  private final long stragglersNanos;
  private final Duration connectTimeout;
  private final CompletableFuture<Void> opened = new CompletableFuture<>();
  private volatile IntFunction<List<Round>> pending = node -> List.of();
  private final IntConsumer health;
  private volatile IntConsumer changed = node -> {};
  private boolean opening;
  private volatile boolean closed;

  /**
   * Connects nothing yet.
   *
   * @param health called after each change of a node's state
   */
  NodeConnector(
      RedisNodes nodes,
      RedisConnections commands,
      NodeState[] states,
      AlgorithmOptions options,
      Scheduler scheduler,
      IntConsumer health) {
    this.health = health;
    this.nodes = nodes;
    this.commands = commands;
    this.states = states;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.quorumTimeoutNanos = options.quorumTimeout().toNanos();
    this.stragglersNanos = options.isLazy() ? options.nodeTimeout().toNanos() : STRAGGLERS_NANOS;
    this.connectTimeout = options.connectTimeout();
  }

  /** Sets the source of the rounds that a node gets before all others when it is connected. */
  void whenConnected(IntFunction<List<Round>> pendingRounds) {
    pending = pendingRounds;
  }

  /** Sets the listener for nodes that go up or down. */
  void whenChanged(IntConsumer listener) {
    changed = listener;
  }

  /**
   * Begins to connect, once.
   *
   * @return completes when every node is up or has failed, or soon after a quorum is up, always
   *     normally and within the timeout
   */
  CompletableFuture<Void> open() {
    boolean first;
    synchronized (this) {
      first = !opening;
      opening = true;
    }
    if (first) {
      for (int node = 0; node < states.length; node++) {
        connect(node);
      }
    }
    return opened;
  }

  /** Connects no more. */
  void close() {
    closed = true;
    opened.complete(null);
  }

  boolean isClosed() {
    return closed;
  }

  private void connect(int node) {
    if (closed) {
      return;
    }
    NodeState.Session session = states[node].begin(clock.nanos());
    CompletableFuture<Void> connected = begin(node, session);
    // after connect: a driver that begins may load its classes for seconds
    try {
      session.limits =
          List.of(
              scheduler.schedule(quorumTimeoutNanos, () -> endWait(node, session)),
              scheduler.schedule(connectTimeout.toNanos(), () -> expire(node, session)));
    } catch (RuntimeException | Error e) { // without limits it could hold rounds back forever
      fail(node, session, NodeException.of(e));
      throw e;
    }
    connected.whenComplete(
        (done, failure) -> {
          if (failure != null) {
            fail(node, session, NodeException.ofConnecting(failure, nodes.isTls(node)));
          } else {
            check(node, session);
          }
        });
  }

  /**
   * Begins to connect. If the driver throws, for example because no thread can be started,
   * connecting has failed.
   */
  private CompletableFuture<Void> begin(int node, NodeState.Session session) {
    try {
      return commands.connect(node, () -> broke(node, session));
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Holds no more rounds back. They end earlier where a quorum does not need this node. */
  private void endWait(int node, NodeState.Session session) {
    NodeState state = states[node];
    state.endWait(session).forEach(round -> round.failure(node, state.cause()));
    health.accept(node);
  }

  private void expire(int node, NodeState.Session session) {
    String hint =
        nodes.isTls(node)
            ? TlsMismatch.hint(true)
            : " (if it is far away, or this machine is busy, raise connectTimeout)";
    fail(
        node,
        session,
        NodeException.passing("not connected within " + connectTimeout.toMillis() + " ms" + hint));
  }

  private void check(int node, NodeState.Session session) {
    ServerCheck check =
        new ServerCheck(
            info -> {
              NodeException fault = faultOf(node, session, info);
              if (fault == null) {
                up(node, session);
              } else {
                fail(node, session, fault);
              }
            },
            cause -> fail(node, session, cause));
    commands.submit(new Round(new Command.Info(), NodeSet.of(node), check));
  }

  /** Returns why a server is unfit to vote, or null if it is fit. */
  private synchronized @Nullable NodeException faultOf(
      int node, NodeState.Session session, ServerInfo info) {
    NodeException fault = ServerCheck.fault(info);
    if (fault != null) {
      return fault;
    }
    NodeState state = states[node];
    String runId = info.runId();
    for (NodeState other : states) {
      if (other != state && runId != null && runId.equals(other.runId())) {
        return NodeException.misconfigured(
            "it is the same server as "
                + other.address()
                + " (run id "
                + runId
                + "): list each server once");
      }
    }
    String policy = info.evictionPolicy();
    if (!policy.equals("noeviction") && state.notePolicy(policy)) { // locks have a ttl
      LOG.log(
          Level.WARNING,
          "node {0} has maxmemory-policy {1}, which can evict lock keys: set noeviction",
          state.address(),
          policy);
    }
    state.noteRunId(session, runId);
    return null;
  }

  private void up(int node, NodeState.Session session) {
    NodeState state = states[node];
    if (!state.isPresent(session)) {
      return;
    }
    sendPending(node);
    List<Round> held = state.takeHeldOrGoUp(session, clock.nanos());
    while (!held.isEmpty()) {
      held.forEach(round -> sendHeld(node, round));
      held = state.takeHeldOrGoUp(session, clock.nanos());
    }
    if (!state.isUp()) {
      return;
    }
    sendPending(node); // again: releases were deferred for as long as the node was not up
    boolean isBack = state.noteRecovery();
    health.accept(node);
    changed.accept(node);
    completeOpening();
    if (isBack) { // last, because a logger may throw
      LOG.log(Level.INFO, "node {0} is back", state.address());
    }
  }

  private void sendPending(int node) {
    for (Round round : pending.apply(node)) {
      states[node].unanswered().onSent(clock.nanos());
      commands.submit(round);
    }
  }

  /** Sends a round that was held back, but no SET that its caller would only delete again. */
  private void sendHeld(int node, Round round) {
    if (round.isDecided() && Scripts.isAcquire(round.command())) {
      round.failure(node, NodeException.ended());
    } else {
      commands.submit(round);
    }
  }

  /**
   * Ends a session, connected or not, because of a fault. A node that refuses this client when it
   * is taught scripts has a connection, too, which must be dropped.
   */
  void fail(int node, NodeState.Session session, NodeException cause) {
    NodeState.Ended ended = states[node].end(session, cause, false, clock.nanos());
    if (ended.wasPresent()) {
      try {
        commands.disconnect(node); // before it is connected again
      } finally {
        onEnded(node, cause, ended);
      }
    }
  }

  /**
   * Ends the connection after a command has failed. A driver fails the commands of a connection
   * that ends shortly before it reports the end. Commands that come between must not fail as well:
   * they are held back for the next connection. A command of an earlier connection, which may fail
   * late, ends nothing.
   *
   * @param sentIn the epoch in which the command was sent
   */
  void endSoon(int node, int sentIn) {
    NodeState.Session session = states[node].beginEnd(sentIn);
    if (session != null) {
      // later, because the driver is in the middle of reporting the failure
      scheduler.schedule(
          0,
          () -> {
            if (states[node].isPresent(session)) {
              commands.disconnect(node);
            }
          });
    }
  }

  private void broke(int node, NodeState.Session session) {
    NodeException cause = NodeException.ended();
    NodeState.Ended ended = states[node].end(session, cause, true, clock.nanos());
    if (ended.wasPresent()) {
      onEnded(node, cause, ended);
    }
  }

  private void onEnded(int node, NodeException cause, NodeState.Ended ended) {
    try {
      boolean isNew = !closed && !ended.returns() && states[node].noteFailure(cause);
      ended.failing().forEach(round -> round.failure(node, cause));
      health.accept(node);
      changed.accept(node);
      if (isNew) { // last, because a logger may throw
        LOG.log(
            Level.WARNING,
            "node {0} is down: {1}; trying again every second",
            states[node].address(),
            cause.getMessage());
      }
    } finally {
      completeOpening();
      if (!closed) {
        scheduler.schedule(ended.retryInNanos(), () -> connect(node));
      }
    }
  }

  private void completeOpening() {
    if (opened.isDone()) {
      return;
    }
    int up = 0;
    int tried = 0;
    for (NodeState state : states) {
      up += state.isUp() ? 1 : 0;
      tried += state.isTried() ? 1 : 0;
    }
    if (tried == states.length) {
      opened.complete(null);
    } else if (up >= Tally.quorumOf(states.length)) {
      scheduler.schedule(stragglersNanos, () -> opened.complete(null));
    }
  }
}
