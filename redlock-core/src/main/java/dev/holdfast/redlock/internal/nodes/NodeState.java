package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.spi.Round;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The connection to one node and the rounds that are held back while it is made or replaced.
 *
 * <p>Transitions hold the monitor, not one atomic reference to an immutable value: up to {@link
 * #MAX_HELD} rounds are held back, and adding a round must not copy the others. The fields that
 * every round reads are volatile, so reading them takes no monitor.
 */
final class NodeState {
  /** Maximum number of rounds held back for a connection. Further rounds fail. */
  private static final int MAX_HELD = 10_000;

  private final String address;
  private final long retryNanos;
  private final AtomicInteger epoch;
  private final UnansweredCommands unanswered;
  private volatile Phase phase = Phase.AWAY;
  private volatile @Nullable NodeException veto;
  private volatile NodeException cause = NodeException.passing("not connected yet");
  private @Nullable Session present;
  private @Nullable String runId;
  private @Nullable String warnedPolicy;
  private List<Round> held = List.of();
  private long replacedAt;
  private boolean wasReplaced;
  private boolean tried;
  private @Nullable String reported;

  private enum Phase {
    /** Not connected: rounds fail. */
    AWAY,
    /** Connected: rounds are sent. */
    UP,
    /** A command has failed, so the connection is ending: rounds are held back. */
    ENDING,
    /** The first connection is being made, or one that broke is replaced: rounds are held back. */
    CONNECTING
  }

  /** One connection, from the first try to its end. Only the present one changes the state. */
  static final class Session {
    private final long begunAt;
    private int upSince;
    volatile List<Scheduler.Task> limits = List.of();

    private Session(long begunAt) {
      this.begunAt = begunAt;
    }

    private void cancelLimits() {
      limits.forEach(Scheduler.Task::cancel);
    }
  }

  /**
   * The consequences of the end of a session.
   *
   * @param wasPresent false if the session had been replaced before
   * @param returns whether the connection is replaced so soon that rounds are held back for it
   * @param retryInNanos when to connect again
   * @param failing held-back rounds, which fail now
   */
  record Ended(boolean wasPresent, boolean returns, long retryInNanos, List<Round> failing) {
    static final Ended STALE = new Ended(false, false, 0, List.of());
  }

  /**
   * Makes the state of a node that is not connected yet.
   *
   * @param retryNanos the time between the beginnings of two sessions
   * @param silenceNanos how long a node may leave commands unanswered
   * @param epoch see {@link NodeConnections#epoch}, shared by all nodes
   */
  NodeState(String address, long retryNanos, long silenceNanos, AtomicInteger epoch) {
    this.address = address;
    this.retryNanos = retryNanos;
    this.epoch = epoch;
    this.unanswered = new UnansweredCommands(silenceNanos);
  }

  String address() {
    return address;
  }

  UnansweredCommands unanswered() {
    return unanswered;
  }

  boolean isUp() {
    return phase == Phase.UP;
  }

  /** Tells whether rounds are taken: the node is up, or its connection is made or replaced. */
  boolean isReachable() {
    return phase != Phase.AWAY;
  }

  /** Tells whether the node is up and has not answered all commands. */
  boolean isAwaited() {
    return isUp() && unanswered.isAwaited();
  }

  /** Returns why the node is not connected. */
  NodeException cause() {
    return cause;
  }

  /**
   * Returns the veto by the node's guard record, or null if there is none or the node is not up.
   */
  @Nullable NodeException veto() {
    return isUp() ? veto : null;
  }

  /** Notes the veto by the node's guard record, or null if the record has our terms. */
  void noteTerms(@Nullable NodeException ofOthers) {
    veto = ofOthers;
  }

  synchronized @Nullable Session present() {
    return present;
  }

  synchronized boolean isPresent(@Nullable Session session) {
    return session != null && present == session;
  }

  synchronized @Nullable String runId() {
    return runId;
  }

  /** Tells whether the first session is connected or over. */
  synchronized boolean isTried() {
    return tried;
  }

  /** Begins a session. Until the first one is up or over, rounds are held back for it. */
  synchronized Session begin(long now) {
    Session session = new Session(now);
    present = session;
    if (!tried) {
      phase = Phase.CONNECTING;
    }
    return session;
  }

  synchronized void noteRunId(Session session, @Nullable String id) {
    if (present == session) {
      runId = id;
    }
  }

  /**
   * Takes the rounds that are held back. Once there are none left, the node is up.
   *
   * @return the rounds to send before the next call, or empty once the node is up
   */
  synchronized List<Round> takeHeldOrGoUp(Session session, long now) {
    if (present != session || isUp()) {
      return List.of();
    }
    List<Round> waiting = held;
    held = List.of();
    if (waiting.isEmpty()) {
      session.cancelLimits();
      unanswered.restart(now);
      tried = true;
      session.upSince = epoch.incrementAndGet();
      phase = Phase.UP;
    }
    return waiting;
  }

  /**
   * Notes that a command has failed, which ends the connection that it was sent over.
   *
   * @param sentIn the epoch in which the command was sent
   * @return the session to end, or null if it is ending already, or if the command is older than
   *     the present session
   */
  synchronized @Nullable Session beginEnd(int sentIn) {
    Session session = present;
    if (!isUp() || session == null || session.upSince - sentIn > 0) {
      return null;
    }
    phase = Phase.ENDING;
    return session;
  }

  /**
   * Ends a session, connected or not. A connection that broke is replaced at once, but at most once
   * in {@code retryNanos}, and rounds are held back until then. Other sessions follow {@code
   * retryNanos} after the beginning of the one before: a node that hangs accepts connections and
   * answers when it no longer hangs, so that one session is always waiting for it.
   */
  synchronized Ended end(Session session, NodeException why, boolean broke, long now) {
    if (present != session) {
      return Ended.STALE;
    }
    session.cancelLimits();
    present = null;
    runId = null;
    cause = why;
    tried = true;
    boolean wasConnected = phase == Phase.UP || phase == Phase.ENDING;
    if (broke && wasConnected && (!wasReplaced || now - replacedAt >= retryNanos)) {
      wasReplaced = true;
      replacedAt = now;
      phase = Phase.CONNECTING;
      return new Ended(true, true, 0, List.of());
    }
    long retryIn = Math.max(0, session.begunAt + retryNanos - now);
    return new Ended(true, false, retryIn, goAway());
  }

  /**
   * Counts the node as down while a session goes on trying to connect.
   *
   * @return held-back rounds, which fail now, or empty if the session is up or over
   */
  synchronized List<Round> endWait(Session session) {
    return present == session && phase == Phase.CONNECTING ? goAway() : List.of();
  }

  private List<Round> goAway() {
    phase = Phase.AWAY;
    List<Round> failing = held;
    held = List.of();
    return failing;
  }

  /** Holds a round back until there is a connection. Returns false if it must fail. */
  synchronized boolean holdBack(Round round) {
    boolean waits = phase == Phase.ENDING || phase == Phase.CONNECTING;
    if (!waits || held.size() >= MAX_HELD) {
      return false;
    }
    if (held.isEmpty()) {
      held = new ArrayList<>();
    }
    held.add(round);
    return true;
  }

  /**
   * Notes a failure for the log.
   *
   * @return true for the first failure since the node was up, and for a new one that only a person
   *     can correct
   */
  synchronized boolean noteFailure(NodeException failure) {
    String message = String.valueOf(failure.getMessage());
    boolean isNew = reported == null || (failure.isMisconfigured() && !message.equals(reported));
    if (isNew) {
      reported = message;
    }
    return isNew;
  }

  /** Notes that the node is up. Returns true if a failure had been logged before. */
  synchronized boolean noteRecovery() {
    boolean recovered = reported != null;
    reported = null;
    return recovered;
  }

  /** Notes the eviction policy. Returns true if the last warning was of another. */
  synchronized boolean notePolicy(String policy) {
    boolean isNew = !policy.equals(warnedPolicy);
    warnedPolicy = policy;
    return isNew;
  }
}
