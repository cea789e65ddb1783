package dev.holdfast.redlock;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.core.TlsMistake;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The nodes and their connections: connects, examines and reconnects for ever, patiently, and gives
 * up a connection that has fallen silent. One warning when a node goes, one line when it comes
 * back.
 */
final class Members {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  /**
   * From the beginning of one attempt to that of the next, but for a connection that broke for the
   * first time in so long: back well within two seconds of a node's return.
   */
  static final long RECONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** With a quorum connected, how long eager opening waits for the others, to find mistakes. */
  private static final long STRAGGLERS_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** What a timer may be late before closing goes on without it. */
  private static final long CLOSED_SCHEDULER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final RedisNodes nodes;
  private final Clock clock;
  private final Scheduler scheduler;
  private final long nodeTimeoutNanos;
  private final long quorumTimeoutNanos;
  private final long stragglersNanos;
  private final Duration connectTimeout;
  private final IntFunction<List<Round>> owed;
  private final Link[] links;
  private final Set<Integer> owing = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<Void> opened = new CompletableFuture<>();
  private final CompletableFuture<Void> quiet = new CompletableFuture<>();
  private final AtomicBoolean waitsForStragglers = new AtomicBoolean();
  private volatile IntConsumer changed = node -> {};
  private boolean opening;
  private volatile long lastQuorumNanos;
  private volatile boolean closed;

  /**
   * Connects nothing yet.
   *
   * @param owed what a node that has been connected is to be asked before all else
   */
  Members(
      RedisNodes nodes,
      RedlockOptions options,
      Clock clock,
      Scheduler scheduler,
      IntFunction<List<Round>> owed) {
    this.nodes = nodes;
    this.clock = clock;
    this.scheduler = scheduler;
    this.nodeTimeoutNanos = options.nodeTimeout().toNanos();
    this.quorumTimeoutNanos = options.quorumTimeout().toNanos();
    this.stragglersNanos = options.isLazy() ? nodeTimeoutNanos : STRAGGLERS_NANOS;
    this.connectTimeout = options.connectTimeout();
    this.owed = owed;
    List<String> addresses = nodes.addresses();
    this.links = new Link[addresses.size()];
    long silence = options.silenceLimit().toNanos();
    for (int node = 0; node < links.length; node++) {
      links[node] = new Link(addresses.get(node), RECONNECT_NANOS, silence);
    }
  }

  /**
   * Has somebody told of each node that was connected, or is so no more.
   *
   * @param listener is short; may come twice or in the wrong order, and asks {@link #isUp}
   */
  void whenChanged(IntConsumer listener) {
    changed = listener;
  }

  boolean isUp(int node) {
    return links[node].isUp();
  }

  int size() {
    return links.length;
  }

  /** The nodes as a set: bit i is node i. */
  long all() {
    return -1L >>> (Long.SIZE - links.length);
  }

  String address(int node) {
    return links[node].address();
  }

  /**
   * Begins to connect, once. Completes when every node is up or has failed, or soon after a quorum
   * is up; always normally, and always within the time-out.
   */
  CompletableFuture<Void> open() {
    boolean first;
    synchronized (this) {
      first = !opening;
      opening = true;
    }
    if (first) {
      for (int node = 0; node < links.length; node++) {
        connect(node);
      }
    }
    return opened;
  }

  /** Those of some nodes (bit i is node i) that are connected, or will be in a moment. */
  long reachable(long asked) {
    long reachable = 0;
    for (long left = asked; left != 0; left &= left - 1) {
      if (links[Long.numberOfTrailingZeros(left)].isReachable()) {
        reachable |= Long.lowestOneBit(left);
      }
    }
    return reachable;
  }

  /** Why a node is not connected. */
  NodeException cause(int node) {
    return links[node].cause();
  }

  long now() {
    return clock.nanos();
  }

  /** A quorum of nodes has answered a round so long after its sending. */
  void quorumAnsweredIn(long nanos) {
    lastQuorumNanos = nanos;
  }

  /** How long the last quorum of answers took; 0 before the first. */
  long lastQuorumNanos() {
    return lastQuorumNanos;
  }

  /** Notes the veto by a node's record, also a late one; null if the record is no veto. */
  void heardTerms(int node, @Nullable NodeException ofOthers) {
    links[node].hasTerms(ofOthers);
  }

  /**
   * Returns the last veto by a node that votes for clients of other terms, whose quorums need not
   * meet ours. It is remembered, because it may come later than a quorum of votes, each time.
   *
   * @return null if the node has none
   */
  @Nullable NodeException veto(int node) {
    return links[node].veto();
  }

  /** Whether any node has a veto. */
  boolean isVetoed() {
    for (Link link : links) {
      if (link.veto() != null) {
        return true;
      }
    }
    return false;
  }

  /** How long a straggler is waited for, in nanoseconds. */
  long nodeTimeoutNanos() {
    return nodeTimeoutNanos;
  }

  /** What is said of a node that let a round's deadline pass. */
  static NodeException silent(long waitedNanos) {
    return NodeException.passing(
        "no answer within " + TimeUnit.NANOSECONDS.toMillis(waitedNanos) + " ms");
  }

  /**
   * Some nodes (bit i is node i) let a round's deadline pass. A connection that has been silent for
   * too long is given up, so that the next call does not wait for it; but if the deadline itself
   * came late, because this process stood still, only after one more look.
   */
  void expired(long silent, long due) {
    long now = clock.nanos();
    for (long left = silent; left != 0; left &= left - 1) {
      int node = Long.numberOfTrailingZeros(left);
      Link link = links[node];
      if (link.suspect(now)) {
        if (now - due > nodeTimeoutNanos) {
          lookAgain(node, link.present(), link.progressAt());
        } else {
          giveUp(node, link.present(), link.progressAt());
        }
      } else if (link.watch(now)) {
        lookWhenSilent(node, now);
      }
    }
  }

  /** A late answer to something else may have come just after the round was sent. */
  private void lookWhenSilent(int node, long now) {
    Link link = links[node];
    long delay = link.silentIn(now);
    scheduler.schedule(
        delay,
        () -> {
          link.unwatch();
          expired(1L << node, now + delay);
        });
  }

  void submit(Round round) {
    long now = clock.nanos();
    long ready = 0;
    for (long left = round.nodes(); left != 0; left &= left - 1) {
      int node = Long.numberOfTrailingZeros(left);
      Link link = links[node];
      if (link.asked(now)) {
        lookAgain(node, link.present(), link.progressAt());
      }
      if (link.isUp() || !link.hold(round.to(1L << node))) {
        ready |= 1L << node;
      }
    }
    if (ready != 0) {
      nodes.submit(ready == round.nodes() ? round : round.to(ready));
    }
  }

  /** Sends again, a moment later, what a node refused although its connection lasts. */
  void sendOwedSoon(int node) {
    if (links[node].isUp() && owing.add(node)) {
      scheduler.schedule(
          RECONNECT_NANOS,
          () -> {
            owing.remove(node);
            if (links[node].isUp()) {
              owed.apply(node).forEach(this::submit);
            }
          });
    }
  }

  void heardFrom(int node) {
    links[node].answered(clock.nanos());
    if (closed) {
      quieter();
    }
  }

  /**
   * A driver fails what was asked on a connection when that ends, a moment before it says so. What
   * is asked in that moment waits for the next connection: it must not fail as well.
   */
  void failedAt(int node) {
    heardFrom(node);
    Link.Attempt ending = links[node].failed();
    if (ending != null) {
      // later, because the driver is in the midst of it
      scheduler.schedule(
          0,
          () -> {
            if (links[node].present() == ending) {
              nodes.disconnect(node);
            }
          });
    }
  }

  /**
   * Lets a quorum answer what is under way first, for as long as a quorum may take, and the others
   * for as long as a straggler may: a release that a quorum has answered may still be to be sent
   * again, with its source, to the others.
   */
  void close() {
    closed = true;
    opened.complete(null);
    long left = leftOfQuorumTimeout();
    if (left == 0) {
      quiet.complete(null);
    }
    Scheduler.Task limit = scheduler.schedule(left, () -> quiet.complete(null));
    quieter();
    awaitQuiet();
    limit.cancel();
    nodes.close();
  }

  /** For those whose answer is due last. Some of it may be over when the manager is closed. */
  private long leftOfQuorumTimeout() {
    long now = clock.nanos();
    return Arrays.stream(links)
        .filter(link -> link.isUp() && link.isAwaited())
        .mapToLong(link -> quorumTimeoutNanos - (now - link.progressAt()))
        .reduce(0, Math::max);
  }

  /** An interrupt does not cut it short: it has a bound, also where the scheduler is closed. */
  private void awaitQuiet() {
    boolean interrupted = false;
    long end = clock.nanos() + quorumTimeoutNanos + CLOSED_SCHEDULER_NANOS;
    while (true) {
      try {
        quiet.get(end - clock.nanos(), TimeUnit.NANOSECONDS);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (TimeoutException e) {
        break;
      } catch (ExecutionException impossible) {
        throw new AssertionError(impossible);
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void quieter() {
    long awaited = Arrays.stream(links).filter(link -> link.isUp() && link.isAwaited()).count();
    if (awaited == 0) {
      quiet.complete(null);
    } else if (links.length - awaited >= Tally.quorumOf(links.length)
        && waitsForStragglers.compareAndSet(false, true)) {
      scheduler.schedule(nodeTimeoutNanos, () -> quiet.complete(null));
    }
  }

  /**
   * A connection on which nothing comes back though it is open, or always too little, gathers
   * commands without end. It is dropped; to be connected again, the node has to answer. But not
   * before it had time for one more answer while we ran: after a stall of our own (a long
   * collection, a throttled container) all that we did not read looks like silence.
   */
  private void lookAgain(int node, Link.@Nullable Attempt attempt, long progressAt) {
    long due = clock.nanos() + nodeTimeoutNanos;
    scheduler.schedule(
        nodeTimeoutNanos,
        () -> {
          boolean stalled = clock.nanos() - due > nodeTimeoutNanos;
          if (stalled && links[node].present() == attempt) {
            lookAgain(node, attempt, progressAt);
          } else {
            giveUp(node, attempt, progressAt);
          }
        });
  }

  private void giveUp(int node, Link.@Nullable Attempt attempt, long progressAt) {
    NodeException fault = links[node].faultSince(progressAt, clock.nanos());
    if (attempt != null && links[node].present() == attempt && fault != null) {
      fail(node, attempt, fault);
    }
  }

  private void connect(int node) {
    if (closed) {
      return;
    }
    Link link = links[node];
    Link.Attempt attempt = link.begin(clock.nanos());
    CompletionStage<Void> connected;
    try {
      connected = nodes.connect(node, () -> down(node, attempt, NodeException.ended(), true));
    } finally { // counted from here: a driver that begins may load its classes for seconds
      attempt.limit = scheduler.schedule(connectTimeout.toNanos(), () -> expired(node, attempt));
    }
    connected.whenComplete(
        (done, failure) -> {
          if (failure != null) {
            down(node, attempt, NodeException.ofConnecting(failure, nodes.isTls(node)), false);
          } else {
            examine(node, attempt);
          }
        });
  }

  private void expired(int node, Link.Attempt attempt) {
    String hint =
        nodes.isTls(node)
            ? TlsMistake.hint(true)
            : " (if it is far away, or this machine is busy, raise connectTimeout)";
    fail(
        node,
        attempt,
        NodeException.passing("not connected within " + connectTimeout.toMillis() + " ms" + hint));
  }

  private void examine(int node, Link.Attempt attempt) {
    Examination examination =
        new Examination(
            found -> {
              NodeException fault = faultOf(node, attempt, found);
              if (fault == null) {
                up(node, attempt);
              } else {
                fail(node, attempt, fault);
              }
            },
            cause -> fail(node, attempt, cause));
    nodes.submit(new Round(new Command.Info(), 1L << node, false, examination));
  }

  /** What makes a server unfit to vote, if anything. */
  private synchronized @Nullable NodeException faultOf(
      int node, Link.Attempt attempt, Examination.Found found) {
    Link link = links[node];
    if (found.isSentinel()) {
      return NodeException.misconfigured(NodeException.SENTINEL);
    }
    if (found.isInCluster()) {
      return NodeException.misconfigured(NodeException.CLUSTER);
    }
    if (found.isReplica()) {
      return NodeException.misconfigured(
          "it is a replica of " + found.master() + ": list masters only");
    }
    for (Link other : links) {
      if (other != link && found.isServer(other.runId())) {
        return NodeException.misconfigured(
            "it is the same server as "
                + other.address()
                + " (run id "
                + found.runId()
                + "): list each server once");
      }
    }
    if (found.evicts() && link.isNewWarning(found.evictionPolicy())) {
      LOG.log(
          Level.WARNING,
          "node {0} has maxmemory-policy {1}, which can evict lock keys: set noeviction",
          link.address(),
          found.evictionPolicy());
    }
    link.runId(attempt, found.runId());
    return null;
  }

  private void up(int node, Link.Attempt attempt) {
    Link link = links[node];
    if (link.present() != attempt) {
      return;
    }
    for (Round first : owed.apply(node)) {
      link.asked(clock.nanos());
      nodes.submit(first);
    }
    List<Round> held = link.up(attempt, clock.nanos());
    while (!held.isEmpty()) {
      held.forEach(round -> sendHeld(node, round));
      held = link.up(attempt, clock.nanos());
    }
    if (!link.isUp()) {
      return;
    }
    if (link.isRecovery()) {
      LOG.log(Level.INFO, "node {0} is back", link.address());
    }
    changed.accept(node);
    resolved();
  }

  /** A SET that nobody waits for any more would only be taken back again. */
  private void sendHeld(int node, Round round) {
    if (round.decided() && Scripts.isAcquire(round.command())) {
      round.failure(node, NodeException.ended());
    } else {
      nodes.submit(round);
    }
  }

  /** Ends an attempt, or a connection, that is no good. */
  private void fail(int node, Link.Attempt attempt, NodeException cause) {
    Link.Ended ended = links[node].down(attempt, cause, false, clock.nanos());
    if (ended.present()) {
      nodes.disconnect(node); // before it is connected again
      ended(node, cause, ended);
    }
  }

  private void down(int node, Link.Attempt attempt, NodeException cause, boolean broke) {
    long now = clock.nanos();
    Link.Ended ended = links[node].down(attempt, cause, broke, now);
    if (ended.present()) {
      ended(node, cause, ended);
    }
    if (ended.returns() && !closed) {
      scheduler.schedule(
          nodeTimeoutNanos,
          () -> links[node].notBack(now).forEach(round -> round.failure(node, cause)));
    }
  }

  private void ended(int node, NodeException cause, Link.Ended ended) {
    try {
      report(links[node], cause, ended);
      ended.inVain().forEach(round -> round.failure(node, cause));
      changed.accept(node);
      resolved();
    } finally { // last: what was held back must not end the next connection as it fails
      if (!closed) {
        scheduler.schedule(ended.restNanos(), () -> connect(node));
      }
    }
  }

  private void report(Link link, NodeException cause, Link.Ended ended) {
    if (!closed && !ended.returns() && link.isNews(cause)) {
      LOG.log(
          Level.WARNING,
          "node {0} is down: {1}; trying again every second",
          link.address(),
          cause.getMessage());
    }
  }

  private void resolved() {
    if (opened.isDone()) {
      return;
    }
    int up = 0;
    int tried = 0;
    for (Link link : links) {
      up += link.isUp() ? 1 : 0;
      tried += link.isTried() ? 1 : 0;
    }
    if (tried == links.length) {
      opened.complete(null);
    } else if (up >= Tally.quorumOf(links.length)) {
      scheduler.schedule(stragglersNanos, () -> opened.complete(null));
    }
  }
}
