package dev.holdfast.redlock.internal.nodes;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The count of the commands that one node has not answered, and the time of its last answer. */
final class UnansweredCommands {
  /** Commands of one second of a busy client. A node with more unanswered does not keep up. */
  private static final int MAX_UNANSWERED = 50_000;

  private final long silenceNanos;
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicBoolean suspected = new AtomicBoolean();
  private final AtomicBoolean watched = new AtomicBoolean();
  private volatile long progressAt;

  UnansweredCommands(long silenceNanos) {
    this.silenceNanos = silenceNanos;
  }

  /** Counts the silence from now on. */
  void restart(long now) {
    progressAt = now;
  }

  /** Counts a command that is sent. Returns true if the node seems stuck. */
  boolean onSent(long now) {
    int before = count.getAndIncrement();
    if (before == 0) {
      progressAt = now;
      return false;
    }
    return isSilent(now) || before >= MAX_UNANSWERED;
  }

  void onAnswered(long now) {
    count.decrementAndGet();
    progressAt = now;
  }

  /** Tells whether an answer is due. */
  boolean isAwaited() {
    return count.get() != 0;
  }

  /** Tells whether the last answer is so long ago that the node looks down, if an answer is due. */
  boolean isSilent(long now) {
    return now - progressAt >= silenceNanos;
  }

  /** Returns how long until the node will have been silent for too long. */
  long silentInNanos(long now) {
    return Math.max(0, silenceNanos - (now - progressAt));
  }

  /** Returns when the node answered last, or got a command when no answer was due. */
  long progressAt() {
    return progressAt;
  }

  /** Begins a suspicion. Returns false if there is one already. */
  boolean beginSuspicion() {
    return suspected.compareAndSet(false, true);
  }

  /**
   * Ends a suspicion.
   *
   * @param then the time of the last answer when the suspicion began
   * @return the fault of the node: no answer since, or too few, or null if it has none
   */
  @Nullable NodeException endSuspicion(long then, long now) {
    suspected.set(false);
    if (isAwaited() && progressAt == then && isSilent(now)) {
      return NodeException.passing("it answers nothing");
    }
    return count.get() >= MAX_UNANSWERED
        ? NodeException.passing("it leaves " + MAX_UNANSWERED + " commands unanswered")
        : null;
  }

  /** Begins to watch for silence. Returns false if the node is watched already. */
  boolean beginWatch() {
    return watched.compareAndSet(false, true);
  }

  void endWatch() {
    watched.set(false);
  }
}
