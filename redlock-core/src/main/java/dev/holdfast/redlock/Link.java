package dev.holdfast.redlock;

import dev.holdfast.core.Scheduler;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What is known of the connection to one node. */
final class Link {
  private final String address;
  private final long silenceNanos;
  private final AtomicInteger unanswered = new AtomicInteger();
  private volatile long progressAt;
  private volatile boolean up;
  private volatile NodeException cause = NodeException.passing("not connected yet");
  private @Nullable Attempt present;
  private @Nullable String runId;
  private @Nullable String warnedOf;
  private boolean tried;
  private @Nullable String reported;

  /** One connection, from the first try to its end. Only the present one changes anything. */
  static final class Attempt {
    volatile Scheduler.@Nullable Task limit;

    private void cancelLimit() {
      Scheduler.Task task = limit;
      if (task != null) {
        task.cancel();
      }
    }
  }

  Link(String address, long silenceNanos) {
    this.address = address;
    this.silenceNanos = silenceNanos;
  }

  String address() {
    return address;
  }

  boolean isUp() {
    return up;
  }

  NodeException cause() {
    return cause;
  }

  synchronized Attempt begin() {
    Attempt attempt = new Attempt();
    present = attempt;
    return attempt;
  }

  synchronized boolean up(Attempt attempt, long now) {
    if (present != attempt || up) {
      return false;
    }
    attempt.cancelLimit();
    progressAt = now;
    tried = true;
    up = true;
    return true;
  }

  synchronized boolean down(Attempt attempt, NodeException why) {
    if (present != attempt) {
      return false;
    }
    attempt.cancelLimit();
    present = null;
    runId = null;
    cause = why;
    tried = true;
    up = false;
    return true;
  }

  /** Whether its first attempt to connect is over, however it went. */
  synchronized boolean isTried() {
    return tried;
  }

  /**
   * Whether it is the first failure since the node was last up, or a new one for people to mend.
   */
  synchronized boolean isNews(NodeException failure) {
    String message = String.valueOf(failure.getMessage());
    boolean news = reported == null || (failure.isMisconfigured() && !message.equals(reported));
    if (news) {
      reported = message;
    }
    return news;
  }

  /** Whether it is up again after a failure that was reported. */
  synchronized boolean isRecovery() {
    boolean recovery = reported != null;
    reported = null;
    return recovery;
  }

  synchronized @Nullable Attempt present() {
    return present;
  }

  synchronized @Nullable String runId() {
    return runId;
  }

  synchronized void runId(Attempt attempt, @Nullable String id) {
    if (present == attempt) {
      runId = id;
    }
  }

  synchronized boolean isNewWarning(String policy) {
    boolean isNew = !policy.equals(warnedOf);
    warnedOf = policy;
    return isNew;
  }

  /** Counts a question. Returns true if the node has been silent for too long. */
  boolean asked(long now) {
    if (unanswered.getAndIncrement() == 0) {
      progressAt = now;
      return false;
    }
    return up && now - progressAt > silenceNanos;
  }

  void answered(long now) {
    unanswered.decrementAndGet();
    progressAt = now;
  }
}
