package dev.holdfast.redlock.internal.nodes;

import dev.holdfast.core.Clock;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.vote.Tally;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The answers that a closing manager waits for. A quorum has {@code quorumTimeout}, and then the
 * other nodes have {@code nodeTimeout}: a node that lacks the script of a release may still need
 * its source although a quorum has answered the release.
 */
final class LastAnswers {
  /** Nanoseconds that a timer may be late before closing goes on without it. */
  private static final long MAX_TIMER_DELAY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final NodeState[] states;
  private final Clock clock;
  private final Scheduler scheduler;
  private final long nodeTimeoutNanos;
  private final long quorumTimeoutNanos;
  private final CompletableFuture<Void> complete = new CompletableFuture<>();
  private final AtomicBoolean waitsForStragglers = new AtomicBoolean();

  LastAnswers(NodeState[] states, AlgorithmOptions options, Scheduler scheduler) {
    this.states = states;
    this.clock = options.clock();
    this.scheduler = scheduler;
    this.nodeTimeoutNanos = options.nodeTimeout().toNanos();
    this.quorumTimeoutNanos = options.quorumTimeout().toNanos();
  }

  /** Waits for the answers that are due. */
  void await() {
    long left = leftOfQuorumTimeout();
    if (left == 0) {
      complete.complete(null);
    }
    Scheduler.Task limit = scheduler.schedule(left, () -> complete.complete(null));
    onAnswered();
    awaitComplete();
    limit.cancel();
  }

  /** Checks whether the answers are complete, after an answer. */
  void onAnswered() {
    long awaited = Arrays.stream(states).filter(NodeState::isAwaited).count();
    if (awaited == 0) {
      complete.complete(null);
    } else if (states.length - awaited >= Tally.quorumOf(states.length)
        && waitsForStragglers.compareAndSet(false, true)) {
      scheduler.schedule(nodeTimeoutNanos, () -> complete.complete(null));
    }
  }

  /** Returns the longest time left to a node. Some of it may have passed before closing. */
  private long leftOfQuorumTimeout() {
    long now = clock.nanos();
    return Arrays.stream(states)
        .filter(NodeState::isAwaited)
        .mapToLong(state -> quorumTimeoutNanos - (now - state.unanswered().progressAt()))
        .reduce(0, Math::max);
  }

  /** Waits despite interrupts, which is bounded even if the scheduler is closed. */
  private void awaitComplete() {
    boolean interrupted = false;
    long end = clock.nanos() + quorumTimeoutNanos + MAX_TIMER_DELAY_NANOS;
    while (true) {
      try {
        complete.get(end - clock.nanos(), TimeUnit.NANOSECONDS);
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
}
