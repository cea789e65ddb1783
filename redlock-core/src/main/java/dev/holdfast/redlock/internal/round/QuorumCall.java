package dev.holdfast.redlock.internal.round;

import dev.holdfast.LockListener;
import dev.holdfast.core.NodeObservers;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.nodes.DiscardedReplies;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.vote.ScriptError;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.Round;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One round and the count of its votes. It is decided once, by the votes or by the deadline, and
 * later votes change nothing. An error is a vote against, never more.
 *
 * <p>The deadline is the round's limit as long as a quorum of nodes may still answer. Once a quorum
 * has answered, or can no longer answer, only stragglers are missing. They have {@code nodeTimeout}
 * from the sending of the round, or twice the time that the quorum took, if that is longer.
 */
public final class QuorumCall implements Round.Answers {
  private final NodeConnections connections;
  private final Command command;
  private final VotePolicy policy;
  private final boolean canBeVetoed;
  private final CompletableFuture<Tally> decision = new CompletableFuture<>();
  private final @Nullable Throwable[] failures;
  private Tally tally;
  private boolean decided;
  private boolean vetoed;
  private boolean missesStragglersOnly;

  /** The deciding votes, if they came while their thread held the monitor. */
  private volatile @Nullable Tally unpublished;

  /** The nodes whose vote was reported to observers. */
  private NodeSet reported = NodeSet.NONE;

  private volatile Scheduler.@Nullable Task deadline;
  private volatile long waitNanos;

  /** The time of the sending, by the clock's nanoseconds. Before it, the time of construction. */
  private long sentAt;

  // written before any node is asked
  private @Nullable Scheduler scheduler;
  private long limitNanos;
  private int sentIn;

  public QuorumCall(
      NodeConnections connections, Command command, NodeSet asked, VotePolicy policy) {
    this.connections = connections;
    this.command = command;
    this.policy = policy;
    this.canBeVetoed = Scripts.isAcquire(command) || Scripts.isEnd(command);
    this.failures = new Throwable[connections.size()];
    this.tally = Tally.before(connections.size(), asked);
    this.sentAt = connections.now();
  }

  /** Returns the future of the deciding votes. It completes once, always normally. */
  public CompletableFuture<Tally> decision() {
    return decision;
  }

  /** Tells whether a node said that this client must not go on. */
  public synchronized boolean isVetoed() {
    return vetoed;
  }

  /** Returns why a node has not voted, or null if it has. */
  synchronized @Nullable public Throwable failure(int node) {
    return !decided && tally.pending().contains(node)
        ? NodeException.noAnswerWithin(connections.now() - sentAt)
        : failures[node];
  }

  /** Returns the votes so far. */
  public synchronized Tally tally() {
    return tally;
  }

  /**
   * Tells whether no quorum has answered for so long that the nodes look down. The last quorum may
   * have been far away, so this one has at least twice its time.
   */
  public synchronized boolean isWithoutQuorum() {
    return !tally.hasQuorumOfAnswers()
        && connections.now() - sentAt
            >= Math.max(connections.nodeTimeoutNanos(), 2 * connections.lastQuorumNanos());
  }

  /**
   * Sends the round. Nodes that are down vote before the sending, so that a driver knows for which
   * nodes it need not wait. The decision is published after the sending, so that the commands that
   * follow a decision, such as a release, reach every node after this round.
   *
   * @param limitNanos how long to wait for a quorum of answers
   * @return the nodes that the round was sent to
   */
  public NodeSet start(Scheduler scheduler, long limitNanos) {
    NodeSet asked = tally.pending();
    NodeSet reachable = connections.reachable(asked);
    limit(scheduler, limitNanos);
    Tally counted = countUnreachable(asked.minus(reachable));
    if (!reachable.isEmpty()) {
      connections.submit(new Round(command, reachable, this));
    }
    after(counted);
    return reachable;
  }

  /** Returns the round for a caller that sends it otherwise than by {@link #start}. */
  public Round round(Scheduler scheduler, long limitNanos) {
    limit(scheduler, limitNanos);
    return new Round(command, tally.pending(), this);
  }

  /** Decides the round by the votes so far, because its result is no longer of interest. */
  public void abandon() {
    Tally counted;
    synchronized (this) {
      counted = decided ? null : tally;
      decided = true;
    }
    after(counted);
  }

  @Override
  public void reply(int node, @Nullable Object reply) {
    connections.onAnswered(node);
    Vote vote = policy.read(node, reply);
    if (vote == null) {
      report(node, LockListener.Vote.ERROR);
      failed(node, () -> NodeException.passing("a reply that is no vote: " + describe(reply)));
    } else {
      noteTerms(node, null);
      if (policy.isObserved() || (canBeVetoed && vote == Vote.MINE)) {
        connections.health().onVoted(node);
      }
      vote(node, vote);
    }
  }

  @Override
  public void error(int node, String error) {
    boolean asksAgain = error.startsWith("NOSCRIPT") && sendSource(node);
    connections.onAnswered(node);
    if (asksAgain) {
      return;
    }
    String plain = ScriptError.unwrapped(error);
    Quarantine quarantine = Quarantine.in(plain);
    if (quarantine != null) {
      quarantined(node, quarantine);
    } else if (plain.startsWith("WRONGTYPE")) {
      vote(node, Vote.WRONG_TYPE);
    } else if (plain.startsWith(NodeException.FOREIGN)) {
      NodeException veto = NodeException.reply(plain);
      noteTerms(node, veto);
      report(node, LockListener.Vote.ERROR);
      failed(node, () -> veto);
    } else {
      report(node, LockListener.Vote.ERROR);
      failed(node, () -> NodeException.reply(plain));
    }
  }

  private void quarantined(int node, Quarantine quarantine) {
    noteTerms(node, null);
    connections.health().onQuarantine(node, quarantine);
    policy.onQuarantine(node, quarantine);
    if (policy.trustsQuarantined(node)) {
      vote(node, quarantine.vote());
    } else {
      report(node, LockListener.Vote.QUARANTINED);
      failed(node, () -> NodeException.of(quarantine));
    }
  }

  /** Notes the terms also after the decision, which may always come before this node's answer. */
  private void noteTerms(int node, @Nullable NodeException veto) {
    if (canBeVetoed) {
      connections.noteTerms(node, veto);
    }
  }

  @Override
  public void failure(int node, Throwable cause) {
    connections.onFailed(node, sentIn);
    report(node, LockListener.Vote.SILENT);
    failed(node, () -> NodeException.of(cause));
  }

  @Override
  public synchronized boolean isDecided() {
    return decided;
  }

  /**
   * Sends the source to a node that lacks the script. A driver that fails at once can decide the
   * round meanwhile, which is published afterwards.
   *
   * @return true if the node's vote is still to come, or has been counted
   */
  private boolean sendSource(int node) {
    boolean isSent = sendSourceInOrder(node);
    after(unpublished);
    return isSent;
  }

  /**
   * Holds the monitor under which the round is decided, because the commands that follow a decision
   * must reach the node after this one.
   */
  private synchronized boolean sendSourceInOrder(int node) {
    if (!(command instanceof Command.Eval eval)
        || eval.withSource()
        || !connections.isReachable(node)) {
      return false;
    }
    NodeSet one = NodeSet.of(node);
    if (decided && !policy.sendsSourceAfterDecision()) {
      Command teaching = policy.teachingCommand();
      if (teaching != null) {
        DiscardedReplies discarded = new DiscardedReplies(connections, connections.epoch());
        connections.submit(new Round(teaching, one, discarded));
      }
      return false;
    }
    Command source = new Command.Eval(eval.script(), true, eval.keys(), eval.arguments());
    connections.submit(new Round(source, one, this));
    return true;
  }

  private @Nullable Tally countUnreachable(NodeSet nodes) {
    NodeSet vetoing =
        nodes.filter(
            node -> {
              NodeException cause = connections.cause(node);
              failures[node] = cause;
              policy.onFailure(node);
              report(node, LockListener.Vote.SILENT);
              return cause.isVeto();
            });
    synchronized (this) {
      vetoed = canBeVetoed && !vetoing.isEmpty();
      return count(null, nodes);
    }
  }

  /**
   * Counts a failure.
   *
   * @param why makes the cause, which is needed for few of the thousands of failures that the end
   *     of a connection can bring
   */
  private void failed(int node, Supplier<NodeException> why) {
    policy.onFailure(node);
    Tally counted = null;
    synchronized (this) {
      if (!decided) {
        NodeException cause = why.get();
        failures[node] = cause;
        vetoed |= cause.isVeto() && canBeVetoed;
        counted = count(null, NodeSet.of(node));
      }
    }
    after(counted);
  }

  private void vote(int node, Vote vote) {
    policy.onVote(node, vote);
    report(node, vote == Vote.MINE ? LockListener.Vote.GRANTED : LockListener.Vote.REFUSED);
    Tally counted;
    synchronized (this) {
      counted = decided ? null : count(vote, NodeSet.of(node));
    }
    after(counted);
  }

  /** Reports the first that is known of a node's vote: a late vote was reported as silence. */
  private void report(int node, LockListener.Vote vote) {
    NodeObservers observers = connections.health().observers();
    if (!policy.isObserved() || !observers.isActive()) {
      return;
    }
    synchronized (this) {
      if (reported.contains(node)) {
        return;
      }
      reported = reported.with(node);
    }
    observers.onVote(connections.address(node), vote);
  }

  private void limit(Scheduler timers, long nanos) {
    scheduler = timers;
    sentIn = connections.epoch();
    synchronized (this) {
      sentAt = connections.now();
    }
    limitNanos = nanos;
    waitFor(nanos);
  }

  /** Sets the deadline, counted from the sending. */
  private void waitFor(long nanos) {
    waitNanos = nanos;
    long left = Math.max(0, nanos - (connections.now() - sentAt));
    deadline = Objects.requireNonNull(scheduler).schedule(left, this::expire);
  }

  private void expire() {
    @Nullable Tally counted;
    NodeSet silent;
    synchronized (this) {
      if (decided) {
        return;
      }
      silent = tally.pending();
      silent.forEach(node -> failures[node] = NodeException.noAnswerWithin(waitNanos));
      counted = count(null, silent);
    }
    silent.forEach(node -> report(node, LockListener.Vote.SILENT));
    try {
      connections.onDeadline(silent, sentAt + waitNanos); // first: the next round asks them again
    } finally {
      after(counted);
    }
  }

  /**
   * Counts the vote of some nodes.
   *
   * @param vote null if they did not vote
   * @return the tally if this vote decided the round, otherwise null
   */
  private @Nullable Tally count(@Nullable Vote vote, NodeSet nodes) {
    NodeSet voters = nodes.intersect(tally.pending());
    boolean hadQuorum = tally.hasQuorumOfAnswers();
    tally = vote == null ? tally.withFailures(voters) : tally.withVotes(voters, vote);
    if (!hadQuorum && tally.hasQuorumOfAnswers()) {
      connections.onQuorumOfAnswers(connections.now() - sentAt);
    }
    decided = vetoed || tally.isComplete() || policy.isDecided(tally);
    return decided ? tally : null;
  }

  /**
   * Publishes the decision, or shortens the deadline once only stragglers are missing. The thread
   * that holds the monitor publishes nothing, because a decision leads to reports to listeners.
   */
  private void after(@Nullable Tally counted) {
    if (counted != null && Thread.holdsLock(this)) {
      unpublished = counted;
    } else if (counted != null) {
      cancelDeadline();
      decision.complete(counted);
    } else if (beginsToWaitForStragglers()) {
      cancelDeadline();
      long took = connections.now() - sentAt;
      waitFor(Math.min(limitNanos, Math.max(connections.nodeTimeoutNanos(), 2 * took)));
      if (isDecided()) {
        cancelDeadline();
      }
    }
  }

  /** Returns true once, when only stragglers are missing. */
  private synchronized boolean beginsToWaitForStragglers() {
    boolean begins = !missesStragglersOnly && !decided && tally.missesStragglersOnly();
    missesStragglersOnly |= begins;
    return begins;
  }

  private void cancelDeadline() {
    Scheduler.Task task = deadline;
    if (task != null) {
      task.cancel();
    }
  }

  private static String describe(@Nullable Object reply) {
    String text = String.valueOf(reply);
    return text.length() <= 80 ? text : text.substring(0, 80) + "…";
  }
}
