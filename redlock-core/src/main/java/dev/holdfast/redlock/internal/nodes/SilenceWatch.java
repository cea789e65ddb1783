package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import org.jspecify.annotations.Nullable;

/**
 * Gives up connections on which nothing comes back though they are open, or always too little: such
 * a connection gathers commands without end. To be connected again, the node has to answer.
 *
 * <p>A connection is given up only after time for one more answer in which this process ran. After
 * a stall of its own, such as a long collection or a throttled container, all unread answers look
 * like silence.
 */
final class SilenceWatch {
  private final NodeState[] states;
  private final Clock clock;
  private final Scheduler scheduler;
  private final long nodeTimeoutNanos;
  private final Ending ending;

  /** The way to end a connection. */
  interface Ending {
    void fail(int node, NodeState.Session session, NodeException fault);
  }

  SilenceWatch(NodeState[] states, AlgorithmOptions options, Scheduler scheduler, Ending ending) {
    this.states = states;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.nodeTimeoutNanos = options.nodeTimeout().toNanos();
    this.ending = ending;
  }

  /** Counts a command that is sent to a node. */
  void onSent(int node, long now) {
    NodeState state = states[node];
    UnansweredCommands unanswered = state.unanswered();
    if (unanswered.onSent(now) && state.isUp() && unanswered.beginSuspicion()) {
      checkAgain(node, state.present(), unanswered.progressAt());
    }
  }

  /**
   * Checks a node that let a round's deadline pass. A connection that has been silent for too long
   * is given up, so that the next call does not wait for it. If the deadline itself came late,
   * because this process stalled, the connection is checked once more first.
   */
  void onDeadline(int node, long now, long due) {
    NodeState state = states[node];
    UnansweredCommands unanswered = state.unanswered();
    if (!state.isAwaited()) {
      return;
    }
    if (!unanswered.isSilent(now)) {
      if (unanswered.beginWatch()) {
        checkWhenSilent(node, now);
      }
    } else if (unanswered.beginSuspicion()) {
      if (now - due > nodeTimeoutNanos) {
        checkAgain(node, state.present(), unanswered.progressAt());
      } else {
        endIfStuck(node, state.present(), unanswered.progressAt());
      }
    }
  }

  /** Checks later: a late answer to another round may have come just after this one was sent. */
  private void checkWhenSilent(int node, long now) {
    UnansweredCommands unanswered = states[node].unanswered();
    long delay = unanswered.silentInNanos(now);
    scheduler.schedule(
        delay,
        () -> {
          unanswered.endWatch();
          onDeadline(node, clock.nanos(), now + delay);
        });
  }

  private void checkAgain(int node, NodeState.@Nullable Session session, long progressAt) {
    long due = clock.nanos() + nodeTimeoutNanos;
    scheduler.schedule(
        nodeTimeoutNanos,
        () -> {
          boolean stalled = clock.nanos() - due > nodeTimeoutNanos;
          if (stalled && states[node].present() == session) {
            checkAgain(node, session, progressAt);
          } else {
            endIfStuck(node, session, progressAt);
          }
        });
  }

  private void endIfStuck(int node, NodeState.@Nullable Session session, long progressAt) {
    NodeState state = states[node];
    NodeException fault = state.unanswered().endSuspicion(progressAt, clock.nanos());
    if (session != null && state.isPresent(session) && fault != null) {
      ending.fail(node, session, fault);
    }
  }
}
