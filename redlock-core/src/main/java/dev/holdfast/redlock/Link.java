package dev.holdfast.redlock;

import dev.holdfast.core.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What is known of the connection to one node. */
final class Link {
  /** Of a moment's worth; more than that is an outage. */
  private static final int MOST_HELD = 10_000;

  /** A second's worth of a busy client: a node that goes on owing more does not keep up. */
  private static final int MOST_UNANSWERED = 50_000;

  private final String address;
  private final long restNanos;
  private final long silenceNanos;
  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicBoolean suspected = new AtomicBoolean();
  private final AtomicBoolean watched = new AtomicBoolean();
  private volatile long progressAt;
  private volatile State state = State.AWAY;
  private volatile @Nullable NodeException veto;
  private volatile NodeException cause = NodeException.passing("not connected yet");
  private @Nullable Attempt present;
  private @Nullable String runId;
  private @Nullable String warnedOf;
  private List<Round> held = List.of();
  private long atOnceAt;
  private boolean wasAtOnce;
  private boolean tried;
  private @Nullable String reported;

  private enum State {
    /** Not connected; what is asked fails. */
    AWAY,
    /** Connected; what is asked is sent. */
    UP,
    /** Something failed, so the connection is at its end; what is asked waits. */
    ENDING,
    /** It broke and is made anew at once; what is asked waits. */
    RETURNING
  }

  /** One connection, from the first try to its end. Only the present one changes anything. */
  static final class Attempt {
    private final long begunAt;
    volatile Scheduler.@Nullable Task limit;

    private Attempt(long begunAt) {
      this.begunAt = begunAt;
    }

    private void cancelLimit() {
      Scheduler.Task task = limit;
      if (task != null) {
        task.cancel();
      }
    }
  }

  /**
   * What the end of an attempt means.
   *
   * @param present false if it was not the present one any more
   * @param returns whether it is made anew so soon that what is asked waits for it
   * @param restNanos when to connect again
   * @param inVain rounds that were held back
   */
  record Ended(boolean present, boolean returns, long restNanos, List<Round> inVain) {
    static final Ended STALE = new Ended(false, false, 0, List.of());
  }

  /**
   * Not connected yet.
   *
   * @param restNanos between the beginnings of two attempts to connect
   * @param silenceNanos how long a node that is asked may answer nothing
   */
  Link(String address, long restNanos, long silenceNanos) {
    this.address = address;
    this.restNanos = restNanos;
    this.silenceNanos = silenceNanos;
  }

  String address() {
    return address;
  }

  boolean isUp() {
    return state == State.UP;
  }

  /** Whether it can be asked: it is up, or will be in a moment. */
  boolean isReachable() {
    return state != State.AWAY;
  }

  NodeException cause() {
    return cause;
  }

  /** Returns the veto by the node's record; null if the record is ours, or the node is not up. */
  @Nullable NodeException veto() {
    return isUp() ? veto : null;
  }

  /** Notes whose terms the node has, whenever it says so. */
  void hasTerms(@Nullable NodeException ofOthers) {
    veto = ofOthers;
  }

  synchronized Attempt begin(long now) {
    Attempt attempt = new Attempt(now);
    present = attempt;
    return attempt;
  }

  /** Takes what was held back meanwhile; when there is nothing any more, the node is up. */
  synchronized List<Round> up(Attempt attempt, long now) {
    if (present != attempt || isUp()) {
      return List.of();
    }
    List<Round> waiting = held;
    held = List.of();
    if (waiting.isEmpty()) {
      attempt.cancelLimit();
      progressAt = now;
      tried = true;
      state = State.UP;
    }
    return waiting;
  }

  /** Something that was asked has failed. Returns the connection that this is the end of, once. */
  synchronized @Nullable Attempt failed() {
    if (!isUp()) {
      return null;
    }
    state = State.ENDING;
    return present;
  }

  /**
   * The connection, or the attempt at one, has ended. A connection that broke is made anew at once,
   * but not more often than the rest allows; what is asked until then is held back. The rest is
   * counted from the beginning of an attempt: a node that hangs accepts connections, and answers
   * when it hangs no more, so that there is always one that waits for it.
   */
  synchronized Ended down(Attempt attempt, NodeException why, boolean broke, long now) {
    if (present != attempt) {
      return Ended.STALE;
    }
    attempt.cancelLimit();
    present = null;
    runId = null;
    cause = why;
    tried = true;
    boolean lasted = state == State.UP || state == State.ENDING;
    boolean returns = broke && lasted && (!wasAtOnce || now - atOnceAt >= restNanos);
    if (returns) {
      wasAtOnce = true;
      atOnceAt = now;
      state = State.RETURNING;
      return new Ended(true, true, 0, List.of());
    }
    state = State.AWAY;
    List<Round> inVain = held;
    held = List.of();
    return new Ended(true, false, Math.max(0, attempt.begunAt + restNanos - now), inVain);
  }

  /**
   * The connection that is made anew at once is not back in time: the node counts as down.
   *
   * @param since when it broke
   * @return rounds that were held back in vain; empty if it is back
   */
  synchronized List<Round> notBack(long since) {
    if (state != State.RETURNING || atOnceAt != since) {
      return List.of();
    }
    state = State.AWAY;
    List<Round> inVain = held;
    held = List.of();
    return inVain;
  }

  /** Holds a round back until the connection is made anew. Returns false if it is not to be. */
  synchronized boolean hold(Round round) {
    boolean waits = state == State.ENDING || state == State.RETURNING;
    if (!waits || held.size() >= MOST_HELD) {
      return false;
    }
    if (held.isEmpty()) {
      held = new ArrayList<>();
    }
    held.add(round);
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

  /** Counts a question. Returns true, once until it is looked into, if the node seems stuck. */
  boolean asked(long now) {
    int before = unanswered.getAndIncrement();
    if (before == 0) {
      progressAt = now;
      return false;
    }
    boolean stuck = isSilent(now) || before >= MOST_UNANSWERED;
    return stuck && isUp() && suspected.compareAndSet(false, true);
  }

  /** Returns true, once until it is looked into, if the node has answered nothing for too long. */
  boolean suspect(long now) {
    return isAwaited() && isSilent(now) && isUp() && suspected.compareAndSet(false, true);
  }

  private boolean isSilent(long now) {
    return now - progressAt >= silenceNanos;
  }

  /** Returns true, once until {@link #unwatch}, if the node has to answer but is not silent yet. */
  boolean watch(long now) {
    return isAwaited() && !isSilent(now) && isUp() && watched.compareAndSet(false, true);
  }

  void unwatch() {
    watched.set(false);
  }

  /** How long until the node will have been silent for too long, if it answers nothing. */
  long silentIn(long now) {
    return Math.max(0, silenceNanos - (now - progressAt));
  }

  /** When it answered last, or was first asked after all was answered. */
  long progressAt() {
    return progressAt;
  }

  /** The suspicion is looked into. Returns what is wrong: nothing has come since, or too little. */
  @Nullable NodeException faultSince(long then, long now) {
    suspected.set(false);
    if (isAwaited() && progressAt == then && isSilent(now)) {
      return NodeException.passing("it answers nothing");
    }
    return unanswered.get() >= MOST_UNANSWERED
        ? NodeException.passing("it leaves " + MOST_UNANSWERED + " commands unanswered")
        : null;
  }

  /** Whether an answer is still to come. */
  boolean isAwaited() {
    return unanswered.get() != 0;
  }

  void answered(long now) {
    unanswered.decrementAndGet();
    progressAt = now;
  }
}
