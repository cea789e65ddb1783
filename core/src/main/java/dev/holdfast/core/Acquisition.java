package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockBackendException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockUnavailableException;
import dev.holdfast.core.Attempted.Contended;
import dev.holdfast.core.Attempted.Outage;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Outcome;
import dev.holdfast.core.LockPrimitive.Refusal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One caller's way to a lock: in line, attempting, pausing between attempts, done. Driven by
 * whoever brings the next event; the state says whose it is.
 */
final class Acquisition {
  private static final Logger LOG = System.getLogger(LockManager.class.getName());

  /** Between two looks, once the time is up, at whether the last attempt is over. */
  private static final long SHORTEST_WAIT_NANOS = 10_000_000;

  /** What processes that wait for a notification need to hear it and to ask all nodes. */
  private static final long REST_NANOS = 5_000_000;

  /** The moments after which those who are told of releases try; less than the rest of others. */
  private static final long[] MOMENTS_NANOS = {2_000_000, 1_000_000, 500_000, 250_000};

  private static final long SHORTEST_MOMENT_NANOS = MOMENTS_NANOS[MOMENTS_NANOS.length - 1];

  private static final int NO_ORDER = -1;

  private final Surroundings surroundings;
  private final WaitingLines lines;
  private final OpenLeases leases;
  private final LockRequest request;
  private final long waitNanos;
  private final long begunAt;
  private final CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
  private final AtomicReference<State> state = new AtomicReference<>(Step.IN_LINE);
  private volatile boolean woken;
  private volatile int wokenInRow;
  private volatile long toldMoment;
  private volatile int timesTold;
  private final AtomicInteger turnsOfOthers = new AtomicInteger(NO_ORDER);
  private volatile boolean granted;
  private volatile boolean crowded;
  private volatile Attempted last = Contended.UNTRIED;
  private volatile @Nullable AttemptProgress underWay;

  /**
   * What an acquisition is doing. A pause is a state of its own, so that only its timer ends it.
   */
  private sealed interface State {}

  private enum Step implements State {
    IN_LINE,
    ATTEMPTING,
    DONE
  }

  private static final class Pause implements State {
    private final long endsAt;
    private volatile Scheduler.@Nullable Task timer;

    Pause(long endsAt) {
      this.endsAt = endsAt;
    }

    void cancel() {
      Scheduler.Task task = timer;
      if (task != null) {
        task.cancel();
      }
    }
  }

  Acquisition(
      Surroundings surroundings,
      WaitingLines lines,
      OpenLeases leases,
      LockRequest request,
      Duration wait) {
    this.surroundings = surroundings;
    this.lines = lines;
    this.leases = leases;
    this.request = request;
    this.waitNanos = Nanos.of(wait);
    this.begunAt = surroundings.clock().nanos();
  }

  String name() {
    return request.name();
  }

  boolean waits() {
    return waitNanos > 0;
  }

  CompletableFuture<Optional<Lease>> result() {
    return result;
  }

  /**
   * Waits for the result. The scheduler's timers end the wait, and this thread does, because the
   * scheduler may have been closed before.
   */
  Optional<Lease> await() throws InterruptedException, ExecutionException {
    while (isLimited()) {
      try {
        long left = waitNanos - waited();
        return result.get(Math.max(left, SHORTEST_WAIT_NANOS), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        State now = now();
        if (waitedEnough() && (now == Step.IN_LINE || now instanceof Pause)) {
          giveUp(now);
        }
      }
    }
    return result.get();
  }

  /**
   * Makes the exception of {@code acquire} where {@code tryAcquire} is empty.
   *
   * @param holder the label of the owner that holds the lock, if it is known
   * @param heldHere whether a lease of this manager holds it
   */
  LockUnavailableException unavailable(@Nullable String holder, boolean heldHere) {
    Duration waited = Duration.ofNanos(waited());
    Contended votes = last instanceof Contended contended ? contended : Contended.UNTRIED;
    return new LockUnavailableException(
        name(), votes.granted(), votes.refused(), votes.unanswered(), waited, holder, heldHere);
  }

  void start(boolean callerWaits) {
    try {
      enter(callerWaits);
    } catch (RuntimeException | Error e) {
      breakOff(e); // nobody takes what might be granted later
    }
  }

  private void enter(boolean callerWaits) {
    if (lines.enter(this) == WaitingLines.Place.HEAD) {
      atHead(callerWaits);
    } else if (!waits()) {
      giveUp(Step.IN_LINE);
    }
    if (isLimited() && now() == Step.IN_LINE) {
      Scheduler.Task end = atEndOfWait(Step.IN_LINE);
      result.whenComplete((lease, failure) -> end.cancel());
    }
  }

  /** Now at the head of the line. */
  void turn() {
    try {
      if (!waitedEnough()) { // or its own timer is due, and ends it on a stack of its own
        atHead(false);
      }
    } catch (RuntimeException | Error e) {
      breakOff(e);
    }
  }

  private void atHead(boolean callerWaits) {
    if (pausesFirst() || surroundings.operations().haveRoomForAttempts()) {
      begin(callerWaits);
    } else {
      beginWhenRoom();
    }
  }

  private void beginWhenRoom() {
    crowded = true;
    surroundings
        .operations()
        .attemptWhenRoom(
            () -> {
              if (!waits() || !waitedEnough()) {
                begin(false);
              }
            });
  }

  private boolean isLimited() {
    return waits() && waitNanos < Nanos.FOREVER;
  }

  private Scheduler.Task atEndOfWait(State from) {
    return surroundings.scheduler().schedule(waitNanos - waited(), () -> giveUp(from));
  }

  private void begin(boolean callerWaits) {
    if (state.compareAndSet(Step.IN_LINE, Step.ATTEMPTING)) {
      if (pausesFirst()) {
        pause(surroundings.retryDelayNanos());
      } else {
        attempt(callerWaits, 0);
      }
    }
  }

  /**
   * Behind a lease of this manager an attempt would most likely be in vain, and the release hands
   * over to who pauses. Who has no time for a pause asks.
   */
  private boolean pausesFirst() {
    return waitNanos - waited() > surroundings.retryDelayNanos() && leases.hold(name());
  }

  /**
   * The lock may be free: tries now; if an attempt is under way, once more after it.
   *
   * @param inRow how often in a row the lock was handed over in this line, this time included
   */
  void wake(int inRow) {
    wokenInRow = inRow;
    woken = true;
    if (now() instanceof Pause pause) {
      resume(pause);
    }
  }

  /**
   * Another process has released the lock: tries after a moment, so that not all who were told
   * split the nodes among them. If an attempt is under way, after it.
   */
  void told() {
    toldMoment = nextMoment();
    if (now() instanceof Pause pause) {
      hurry(pause);
    }
  }

  /**
   * In an order of turns, those whose turn it is not come after the one who has it, in case that it
   * does not come. Without an order the moment halves each time, so that those who have been told
   * in vain are first, one after the other; and then it begins anew, so that a crowd does not
   * gather in the shortest.
   */
  private long nextMoment() {
    int turns = turnsOfOthers.getAndUpdate(before -> Math.max(before - 1, NO_ORDER));
    if (turns == NO_ORDER) {
      return MOMENTS_NANOS[timesTold % MOMENTS_NANOS.length];
    }
    return turns == 0 ? SHORTEST_MOMENT_NANOS : REST_NANOS;
  }

  /** Ends its pause, if it is in one, for an attempt that the caller has yet to start. */
  boolean claim() {
    State now = now();
    if (!(now instanceof Pause pause) || result.isDone() || waitedEnough()) {
      return false;
    }
    boolean claimed = state.compareAndSet(now, Step.ATTEMPTING);
    if (claimed) {
      pause.cancel();
    }
    return claimed;
  }

  /**
   * After others have had a moment for an attempt of theirs. Several have a turn each before it is
   * the turn of this one again; a single one needs no order.
   *
   * @param others how many
   */
  void rest(int others) {
    turnsOfOthers.set(others > 1 ? others - 1 : NO_ORDER);
    if (claim()) {
      pause(REST_NANOS);
    } else {
      wake(0);
    }
  }

  /** The outage that its attempt under way is in so far; null if there is none. */
  @Nullable LockException outageSoFar() {
    AttemptProgress progress = underWay;
    return progress == null ? null : progress.outage();
  }

  /** Whether it got the lock. */
  boolean isGranted() {
    return granted;
  }

  /** Ends it: nobody takes a lock that was granted, or will be, so that it is released. */
  void abandon(Throwable failure) {
    if (!refuse(failure)) {
      result.thenAccept(LeaseHandle::takeBack);
    }
  }

  /** Ends it unless it is over. Whoever was granted the lock before keeps it. */
  boolean refuse(Throwable failure) {
    if (!result.completeExceptionally(failure)) {
      return false;
    }
    State now = now();
    while (now != Step.DONE && now != Step.ATTEMPTING) {
      if (finish(now)) {
        lines.leave(this);
        return true;
      }
      now = now();
    }
    return true;
  }

  /**
   * By whoever made it attempting.
   *
   * @param inRow how often in a row the lock was handed over, if it is
   */
  void attempt(boolean callerWaits, int inRow) {
    woken = false;
    toldMoment = 0;
    Attempt attempt =
        new Attempt(
            name(),
            request.owner().orElse(surroundings.defaultOwner()),
            request.ttl(),
            callerWaits);
    long begunAt;
    try {
      begunAt = surroundings.clock().nanos();
    } catch (RuntimeException | Error e) {
      breakOff(e);
      return;
    }
    Operations operations = surroundings.operations();
    operations.begin();
    operations.ask();
    underWay = attempt.progress();
    Stages.start(() -> surroundings.primitive().attempt(attempt))
        .whenComplete(
            (outcome, failure) -> {
              try {
                underWay = null;
                attempted(outcome, inRow, failure, begunAt, attempt.progress());
              } catch (RuntimeException | Error e) {
                breakOff(e);
              } finally {
                operations.answered();
                operations.end();
              }
            });
  }

  private void attempted(
      @Nullable Outcome outcome,
      int inRow,
      @Nullable Throwable failure,
      long begunAt,
      AttemptProgress progress) {
    if (outcome instanceof Grant grant) {
      granted(grant, inRow, begunAt);
    } else if (outcome instanceof Refusal refusal) {
      again(new Contended(refusal.granted(), refusal.refused(), refusal.unanswered()), true);
    } else if (failure != null && Stages.cause(failure) instanceof LockBackendException outage) {
      again(new Outage(outage), !progress.isLimitedByTtl());
    } else {
      end();
      result.completeExceptionally(Stages.cause(Objects.requireNonNull(failure)));
    }
  }

  private void granted(Grant grant, int inRow, long begunAt) {
    LeaseHandle lease = leases.open(request, grant, inRow, begunAt);
    lines.remember(name(), Contended.UNTRIED);
    granted = true;
    end();
    if (leases.closed() || !result.complete(Optional.of(lease))) {
      LeaseHandle.takeBack(Optional.of(lease));
      result.completeExceptionally(leases.refusal());
    }
  }

  /** Ends it after a failure that nobody expects, and lets the next in line have its turn. */
  private void breakOff(Throwable failure) {
    result.completeExceptionally(failure);
    end();
  }

  /**
   * No lock this time.
   *
   * @param concernsOthers whether those behind in the line report the same
   */
  private void again(Attempted attempted, boolean concernsOthers) {
    last = attempted;
    if (concernsOthers) {
      lines.remember(name(), attempted);
    }
    if (waitedEnough()) {
      giveUp(Step.ATTEMPTING);
    } else {
      pause(surroundings.retryDelayNanos());
      listen();
    }
  }

  private void listen() {
    try {
      lines.listen(name(), surroundings.primitive());
    } catch (RuntimeException | Error e) {
      LOG.log(
          Level.WARNING,
          "no release of '" + name() + "' can be heard; it is asked for now and then",
          e);
    }
  }

  private void pause(long longest) {
    Pause pause = pauseOf(longest);
    state.set(pause);
    schedule(pause);
    if (woken || result.isDone()) {
      resume(pause);
    } else if (toldMoment > 0) {
      hurry(pause);
    }
  }

  private Pause pauseOf(long longest) {
    long delay = Math.min(waitNanos - waited(), surroundings.jitter(longest));
    return new Pause(surroundings.clock().nanos() + delay);
  }

  private void schedule(Pause pause) {
    long delay = pause.endsAt - surroundings.clock().nanos();
    pause.timer = surroundings.scheduler().schedule(delay, () -> resume(pause));
  }

  /** A pause that ends sooner. */
  private void hurry(Pause pause) {
    int times = timesTold;
    long moment = toldMoment;
    if (moment == 0) {
      return; // somebody else has seen to it
    }
    Pause shorter = pauseOf(moment);
    if (shorter.endsAt - pause.endsAt >= 0) {
      toldMoment = 0;
    } else if (state.compareAndSet(pause, shorter)) {
      toldMoment = 0;
      timesTold = times + 1;
      pause.cancel();
      schedule(shorter);
      if (woken || result.isDone()) {
        resume(shorter);
      }
    }
  }

  private void resume(Pause pause) {
    if (result.isDone() || waitedEnough()) {
      giveUp(pause);
    } else if (surroundings.operations().haveRoomForAttempts()) {
      retry(pause);
    } else if (now() == pause) {
      pause.cancel(); // who was woken comes before its timer
      if (isLimited()) {
        pause.timer = atEndOfWait(pause);
      }
      surroundings
          .operations()
          .attemptWhenRoom(
              () -> {
                if (!waitedEnough()) {
                  retry(pause);
                }
              });
    }
  }

  private void retry(Pause pause) {
    if (state.compareAndSet(pause, Step.ATTEMPTING)) {
      pause.cancel();
      attempt(false, woken ? wokenInRow : 0);
    }
  }

  private State now() {
    return Objects.requireNonNull(state.get());
  }

  private boolean waitedEnough() {
    return waited() >= waitNanos;
  }

  private long waited() {
    return surroundings.clock().nanos() - begunAt;
  }

  /** The wait is over: what the last attempt saw, one's own or the head's, is the answer. */
  private void giveUp(State from) {
    Attempted seen = from == Step.IN_LINE ? lines.last(name(), waits()) : null;
    if (!finish(from)) {
      return;
    }
    lines.leave(this);
    if (from == Step.IN_LINE) {
      last = Objects.requireNonNullElseGet(seen, () -> crowded ? new Outage(crowd()) : last);
    }
    if (last instanceof Outage outage) {
      result.completeExceptionally(outage.failure());
    } else {
      result.complete(Optional.empty());
    }
  }

  private LockBackendException crowd() {
    return new LockBackendException(
        "nobody was asked for '%s' within %d ms, because %d operations of this manager were under way all the time: wait longer, or ask for fewer locks at once"
            .formatted(name(), TimeUnit.NANOSECONDS.toMillis(waitNanos), Operations.ENOUGH),
        Map.of(),
        false);
  }

  private void end() {
    state.set(Step.DONE);
    lines.leave(this);
  }

  private boolean finish(State from) {
    if (!state.compareAndSet(from, Step.DONE)) {
      return false;
    }
    if (from instanceof Pause pause) {
      pause.cancel();
    }
    return true;
  }
}
