package dev.holdfast.core;

import dev.holdfast.LockException;
import dev.holdfast.LockListener.Vote;
import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.LockPrimitive.Grant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The only node of a backend that has no others. Its state is that of the last answer. A vote that
 * leaves the state as it is reads no clock. Safe for use by many threads.
 */
public final class SingleNode {
  private final String address;
  private final Clock clock;
  private final NodeObservers observers = new NodeObservers();
  private volatile Known known;

  /** The present state. */
  private record Known(State state, ClockReading since, String cause) {
    boolean is(State other, String otherCause) {
      return state == other && cause.equals(otherCause);
    }
  }

  /**
   * Makes a node of which nothing is known yet.
   *
   * @param address as messages show it
   * @param clock the manager's clock
   */
  public SingleNode(String address, Clock clock) {
    this.address = address;
    this.clock = clock;
    this.known = new Known(State.UNKNOWN, clock.now(), "");
  }

  /**
   * Adds a receiver of votes and changes.
   *
   * @param observer as {@link LockPrimitive#observe} was given it
   */
  public void observe(NodeObserver observer) {
    observers.add(observer);
  }

  /**
   * Notes the outcome of an attempt. Throws nothing: a grant must not be lost here.
   *
   * @param outcome null if the attempt failed
   * @param failure null if it did not
   */
  public void onAttempted(LockPrimitive.@Nullable Outcome outcome, @Nullable Throwable failure) {
    onAnswered(outcome != null, outcome instanceof Grant, failure);
  }

  /**
   * Notes the outcome of an extension, as that of an attempt. Throws nothing.
   *
   * @param outcome null if the extension failed
   * @param failure null if it did not
   */
  public void onExtended(LockPrimitive.@Nullable Extension outcome, @Nullable Throwable failure) {
    onAnswered(outcome != null, outcome instanceof LockPrimitive.Extended, failure);
  }

  private void onAnswered(boolean isAnswered, boolean isGranted, @Nullable Throwable failure) {
    if (isAnswered) {
      onVote(isGranted ? Vote.GRANTED : Vote.REFUSED, "");
    } else if (failure != null) {
      Throwable cause = Futures.cause(failure);
      boolean isSilent = cause instanceof LockOutageException;
      onVote(
          isSilent ? Vote.SILENT : Vote.ERROR,
          cause instanceof LockException seen ? String.valueOf(seen.getMessage()) : "");
    }
  }

  /**
   * Notes the outcome of a ping, which is no vote. Throws nothing.
   *
   * @param answers whether the node answered, or null if the ping failed otherwise, which says
   *     nothing about the node
   */
  public void onPinged(@Nullable Boolean answers) {
    if (answers != null) {
      setState(answers ? State.UP : State.DOWN, answers ? "" : "the node did not answer a ping");
    }
  }

  private void onVote(Vote vote, String cause) {
    setState(vote == Vote.SILENT ? State.DOWN : State.UP, cause);
    if (observers.isActive()) {
      observers.onVote(address, vote);
    }
  }

  private void setState(State state, String cause) {
    if (!known.is(state, cause)) {
      change(state, cause);
    }
  }

  /** Takes turns, so that changes are reported in their order. Observers return at once. */
  private synchronized void change(State state, String cause) {
    Known before = known;
    if (before.state() == state) {
      known = new Known(state, before.since(), cause);
      return;
    }
    ClockReading now;
    try {
      now = clock.now();
    } catch (RuntimeException | Error e) { // the caller's own reading of the clock reports it
      return;
    }
    known = new Known(state, now, cause);
    observers.onNode(address, state, cause);
  }

  /**
   * Returns the node as it is known.
   *
   * @return one element
   */
  public List<LockNode> nodes() {
    Known now = known;
    return List.of(
        new LockNode(address, now.state(), now.since().instant(), now.cause(), Optional.empty()));
  }
}
