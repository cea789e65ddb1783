package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.NodeObserver;
import dev.holdfast.core.NodeObservers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The state of each node as operators and observers see it, by the connections and by the replies
 * to attempts and extensions. Safe for use by many threads.
 */
public final class NodeHealth {
  /**
   * Longest time, in microseconds, between the beginnings of what is one quarantine: clients whose
   * clocks differ, within the guard's margin of a second, restart it one after the other.
   */
  private static final long ONE_QUARANTINE_MICROS = 1_000_000;

  private final NodeState[] states;
  private final Clock clock;
  private final NodeObservers observers = new NodeObservers();
  private final AtomicReferenceArray<@Nullable Seen> quarantines;
  private final Known[] known;

  /**
   * A quarantine, with its times by this manager's clock.
   *
   * @param begun its beginning by the node's clock, in microseconds
   * @param cause has no times, because it is shown for as long as the quarantine lasts
   */
  private record Seen(String begun, String cause, ClockReading since, ClockReading votesAgain) {
    boolean isSameAs(String other) {
      return Math.abs(Long.parseLong(begun) - Long.parseLong(other)) <= ONE_QUARANTINE_MICROS;
    }
  }

  /**
   * A state that observers know.
   *
   * @param quarantine the quarantine that they know, or null in any other state
   */
  private record Known(State state, ClockReading since, String cause, @Nullable Seen quarantine) {}

  NodeHealth(NodeState[] states, Clock clock) {
    this.states = states;
    this.clock = clock;
    this.quarantines = new AtomicReferenceArray<>(states.length);
    this.known = new Known[states.length];
    ClockReading now = clock.now();
    for (int node = 0; node < states.length; node++) {
      known[node] = new Known(State.UNKNOWN, now, "not connected yet", null);
    }
  }

  public NodeObservers observers() {
    return observers;
  }

  /**
   * Adds an observer, and reports to it each node that was tried. So a manager over connections
   * that exist already learns of their state, too.
   */
  public synchronized void observe(NodeObserver observer) {
    observers.add(observer);
    for (int node = 0; node < states.length; node++) {
      if (known[node].state() != State.UNKNOWN) {
        observer.onNode(states[node].address(), known[node].state(), known[node].cause());
      }
    }
  }

  /** Notes that a node reported its quarantine instead of a vote. */
  public void onQuarantine(int node, Quarantine quarantine) {
    String cause = Quarantine.cause(quarantine.isNew());
    onQuarantine(node, quarantine.begun(), cause, quarantine.age(), quarantine.left());
  }

  /**
   * Notes that a node is in quarantine. A node that loses its data again begins another one, even
   * if its connection never broke.
   *
   * @param begun its beginning by the node's clock, in microseconds
   * @param cause says no times
   * @param age how long it has been
   * @param left how long it does not vote yet
   */
  public void onQuarantine(int node, String begun, String cause, Duration age, Duration left) {
    Seen before = quarantines.get(node);
    if (before == null || !before.isSameAs(begun)) {
      ClockReading now = clock.now();
      ClockReading since = now.plusNanos(-age.toNanos());
      quarantines.set(node, new Seen(begun, cause, since, now.plusNanos(left.toNanos())));
      onChanged(node);
    }
  }

  /** Notes a vote, which only a node that is in no quarantine gives. */
  public void onVoted(int node) {
    if (quarantines.get(node) != null) {
      quarantines.set(node, null);
      onChanged(node);
    }
  }

  /**
   * Compares a node's state with the one that observers know. They queue what they receive, so that
   * the monitor may be held, which keeps the order of changes.
   */
  synchronized void onChanged(int node) {
    Known now = refreshed(node);
    Known before = known[node];
    if (now.state() != before.state() || !Objects.equals(now.quarantine(), before.quarantine())) {
      known[node] = now;
      observers.onNode(states[node].address(), now.state(), now.cause());
    }
  }

  private Known refreshed(int node) {
    ClockReading now = clock.now();
    if (!states[node].isTried()) {
      return known[node];
    }
    if (!states[node].isReachable()) {
      quarantines.set(node, null); // whether it kept its data is unknown when it comes back
      String cause = String.valueOf(states[node].cause().getMessage());
      return new Known(State.DOWN, now, cause, null);
    }
    Seen seen = quarantines.get(node);
    return seen == null
        ? new Known(State.UP, now, "", null)
        : new Known(State.QUARANTINED, now, seen.cause(), seen);
  }

  /** Returns each node as it is known. */
  public synchronized List<LockNode> nodes() {
    List<LockNode> nodes = new ArrayList<>();
    for (int node = 0; node < states.length; node++) {
      Known now = known[node];
      Seen seen = now.quarantine();
      NodeException veto = states[node].veto();
      nodes.add(
          new LockNode(
              states[node].address(),
              now.state(),
              (seen == null ? now.since() : seen.since()).instant(),
              veto == null ? now.cause() : String.valueOf(veto.getMessage()),
              Optional.ofNullable(seen).map(quarantine -> quarantine.votesAgain().instant())));
    }
    return List.copyOf(nodes);
  }
}
