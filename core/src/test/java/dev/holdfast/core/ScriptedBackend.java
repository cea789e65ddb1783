package dev.holdfast.core;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A backend that does what a test says: it answers at once, or on command, or fails. It knows the
 * holder of each lock, and records every call.
 */
final class ScriptedBackend implements LockPrimitive {
  /** The one ttl that will not do. */
  static final Duration USELESS_TTL = Duration.ofNanos(1);

  /** The operations of a backend. */
  enum Op {
    ATTEMPT,
    ADOPT,
    EXTEND,
    RELEASE,
    INSPECT,
    FORCE_RELEASE
  }

  /**
   * A call.
   *
   * @param time the ttl that was asked for, or how long a release keeps others out
   * @param isLent whether on a thread that waits for the result
   * @param at when, as {@link Clock#nanos()}
   */
  record Call(Op op, String name, Duration time, boolean isLent, long at) {}

  /** A call that waits for the test to answer it. */
  interface Unanswered {
    /** Has its effect now, though its answer is still on its way. */
    void takeEffect();

    /** Has its effect now, if it had none so far, and answers. */
    void answer();

    /** Has no effect. */
    void fail(RuntimeException failure);

    /** Breaks the contract: is over, but with neither a result nor a failure. */
    void answerNothing();
  }

  private record TestGrant(
      String name, String token, OptionalLong fencingToken, ClockReading validUntil)
      implements Grant {}

  private record Holder(String token, String owner, long until) {}

  private final Clock clock;
  private final Map<String, Holder> holders = new HashMap<>();
  private final List<Call> calls = new ArrayList<>();
  private final Set<Op> heldBack = EnumSet.noneOf(Op.class);
  private final Deque<Unanswered> unanswered = new ArrayDeque<>();
  private final Map<Op, RuntimeException> failing = new EnumMap<>(Op.class);
  private Set<LockCapability> capabilities = EnumSet.allOf(LockCapability.class);
  private Runnable beforeEachCall = () -> {};
  private final Map<String, Runnable> watchers = new HashMap<>();
  private final List<Boolean> handoffs = new ArrayList<>();
  private int others = Released.UNKNOWN;
  private @Nullable RuntimeException cannotWatch;
  private @Nullable AttemptProgress lastProgress;
  private long grants;
  private int closed;
  private @Nullable RuntimeException closeFailure;
  private int callsAfterClose;
  private final ThreadLocal<Boolean> isLent = new ThreadLocal<>();
  private @Nullable RuntimeException afterLending;
  private Duration longestOperation = Duration.ofSeconds(2);

  ScriptedBackend(Clock clock) {
    this.clock = clock;
  }

  /** A manager over it, whose callbacks run at once, on the thread that completes them. */
  static LockManagerBuilder manager(ScriptedBackend backend, ManualTime time) {
    time.forkAtOnce();
    return LockManagerBuilder.over(backend)
        .clock(time)
        .scheduler(time)
        .callbacks(Runnable::run)
        .ownerLabel("tester");
  }

  /** Returns the context of a manager over a backend. Its callbacks run at once. */
  static ManagerContext context(ScriptedBackend backend, ManualTime time, Scheduler scheduler) {
    Listeners listeners = new Listeners(time);
    return new ManagerContext(
        backend,
        backend.capabilities(),
        time,
        scheduler,
        () -> 0,
        Runnable::run,
        1,
        Duration.ofSeconds(30),
        "tester",
        new InFlightOperations(),
        new ConcurrencyLimiter(time, listeners),
        new UnconfirmedReleases(time),
        listeners,
        new NodeEvents(listeners, time),
        null);
  }

  synchronized void declare(Set<LockCapability> declared) {
    capabilities = declared;
  }

  /** From now on, such calls wait for {@link #next}. */
  synchronized void holdBack(Op op) {
    heldBack.add(op);
  }

  /** From now on, such calls are answered at once again. */
  synchronized void answerAtOnce(Op op) {
    heldBack.remove(op);
  }

  synchronized void failing(Op op, RuntimeException failure) {
    failing.put(op, failure);
  }

  synchronized void healed() {
    failing.clear();
  }

  /** Runs on the thread of each call, before it is looked at. */
  synchronized void beforeEachCall(Runnable hook) {
    beforeEachCall = hook;
  }

  /** Another process has the lock from now on. */
  synchronized void giveToAnother(String name, Duration ttl) {
    holders.put(name, new Holder("another's", "another", clock.nanos() + ttl.toNanos()));
  }

  /** Frees the lock, as if its keys were gone. */
  synchronized void wipe(String name) {
    holders.remove(name);
  }

  synchronized Optional<String> holder(String name) {
    return Optional.ofNullable(live(name)).map(Holder::token);
  }

  /** Notifies the subscribers that another process has released the lock. */
  void publish(String name) {
    Runnable watcher;
    synchronized (this) {
      watcher = watchers.get(name);
    }
    if (watcher != null) {
      watcher.run();
    }
  }

  /** The names to whose releases there is a subscription. */
  synchronized Set<String> watched() {
    return Set.copyOf(watchers.keySet());
  }

  /** Returns for each release whether it was a handoff. */
  synchronized List<Boolean> handoffs() {
    return List.copyOf(handoffs);
  }

  /** Against the contract. */
  synchronized void failToWatch(RuntimeException failure) {
    cannotWatch = failure;
  }

  /** Sets the outage that the attempt in flight reports. */
  synchronized void outageSoFar(LockException outage) {
    Objects.requireNonNull(lastProgress).outage(() -> outage);
  }

  /** Says of the last attempt that its own ttl is its limit. */
  synchronized void limitedByTtl() {
    Objects.requireNonNull(lastProgress).limitedByTtl();
  }

  /** How many other processes listen, too. */
  synchronized void others(int listening) {
    others = listening;
  }

  /** The call that has waited longest for its answer. */
  synchronized Unanswered next() {
    return unanswered.remove();
  }

  synchronized int waitingForAnswers() {
    return unanswered.size();
  }

  synchronized List<Call> calls(Op op) {
    return calls.stream().filter(call -> call.op() == op).toList();
  }

  synchronized List<Call> calls() {
    return List.copyOf(calls);
  }

  synchronized int closed() {
    return closed;
  }

  synchronized int callsAfterClose() {
    return callsAfterClose;
  }

  @Override
  public synchronized Set<LockCapability> capabilities() {
    return capabilities;
  }

  /** Sets how long an operation is said to take at most. */
  synchronized void longestOperation(Duration longest) {
    longestOperation = longest;
  }

  @Override
  public synchronized Duration longestOperation() {
    return longestOperation;
  }

  @Override
  public void requireName(String name) {
    if (name.startsWith("reserved:")) {
      throw new LockConfigurationException("the name '" + name + "' is reserved");
    }
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    if (ttl.equals(USELESS_TTL)) {
      throw new LockConfigurationException("the ttl 1 ns leaves no time");
    }
  }

  @Override
  public synchronized Watch watch(String name, Runnable released) {
    if (cannotWatch != null) {
      throw cannotWatch;
    }
    watchers.put(name, released);
    return () -> {
      synchronized (this) {
        watchers.remove(name, released);
      }
    };
  }

  @Override
  public <T> CompletableFuture<T> lendThread(Supplier<CompletableFuture<T>> operation) {
    isLent.set(true);
    try {
      CompletableFuture<T> result = operation.get();
      synchronized (this) {
        if (afterLending != null) {
          throw afterLending;
        }
      }
      return result;
    } finally {
      isLent.remove();
    }
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    synchronized (this) {
      lastProgress = attempt.progress();
    }
    return call(
        Op.ATTEMPT,
        attempt.name(),
        attempt.ttl(),
        start -> {
          if (live(attempt.name()) != null) {
            return new Refusal(new LockVotes(0, 1, 0));
          }
          return grant(attempt, start);
        });
  }

  @Override
  public String transferScope() {
    return "scripted";
  }

  @Override
  public CompletableFuture<Outcome> adopt(Adoption adoption) {
    Attempt attempt = adoption.attempt();
    return call(
        Op.ADOPT,
        attempt.name(),
        attempt.ttl(),
        start -> {
          Optional<LossReason> loss = loss(attempt.name(), adoption.transferredToken());
          return loss.isPresent() ? new Lost(loss.get()) : grant(attempt, start);
        });
  }

  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    return call(
        Op.EXTEND,
        grant.name(),
        ttl,
        start -> {
          Optional<LossReason> loss = loss(grant.name(), grant.token());
          if (loss.isPresent()) {
            return new Lost(loss.get());
          }
          ClockReading until = start.plusNanos(ttl.toNanos());
          moveEnd(grant.name(), end -> Math.max(until.nanos(), end));
          return new Extended(until);
        });
  }

  @Override
  public CompletableFuture<Released> release(Release release) {
    Grant grant = release.grant();
    return call(
        Op.RELEASE,
        grant.name(),
        release.keep(),
        start -> {
          Optional<LossReason> loss = loss(grant.name(), grant.token());
          if (loss.isPresent()) {
            return new Released(loss, others);
          }
          long kept = clock.nanos() + release.keep().toNanos();
          moveEnd(grant.name(), end -> release.mayLengthen() ? kept : Math.min(kept, end));
          handoffs.add(release.isHandoff());
          return new Released(Optional.empty(), others);
        });
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    return call(
        Op.INSPECT,
        name,
        Duration.ZERO,
        start ->
            Optional.ofNullable(live(name))
                .map(
                    holder ->
                        new LockStatus(
                            name,
                            holder.owner(),
                            Duration.ofNanos(holder.until() - clock.nanos()),
                            new LockVotes(1, 0, 0))));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    return call(
        Op.FORCE_RELEASE,
        name,
        Duration.ZERO,
        start -> live(name) != null && holders.remove(name) != null);
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return type == String.class ? Optional.of(type.cast("given by the backend")) : Optional.empty();
  }

  /** Makes each call on a lent thread fail after it has started its operation. */
  synchronized void throwAfterLending(RuntimeException failure) {
    afterLending = failure;
  }

  synchronized void failingToClose(RuntimeException failure) {
    closeFailure = failure;
  }

  @Override
  public synchronized void close() {
    closed++;
    if (closeFailure != null) {
      throw closeFailure;
    }
  }

  private <T> CompletableFuture<T> call(
      Op op, String name, Duration time, Function<ClockReading, T> effect) {
    Runnable hook;
    synchronized (this) {
      hook = beforeEachCall;
    }
    hook.run();
    ClockReading start = clock.now();
    Waiting<T> waiting = new Waiting<>(() -> effect.apply(start));
    RuntimeException failure;
    synchronized (this) {
      calls.add(new Call(op, name, time, isLent.get() != null, clock.nanos()));
      callsAfterClose += closed;
      failure = failing.get(op);
      if (failure == null && heldBack.contains(op)) {
        unanswered.add(waiting);
        return waiting.result;
      }
    }
    if (failure == null) {
      waiting.answer();
    } else {
      waiting.fail(failure);
    }
    return waiting.result;
  }

  private TestGrant grant(Attempt attempt, ClockReading start) {
    long number = ++grants;
    ClockReading until = start.plusNanos(attempt.ttl().toNanos());
    String token = attempt.ownerLabel() + ":" + number;
    holders.put(attempt.name(), new Holder(token, attempt.ownerLabel(), until.nanos()));
    return new TestGrant(attempt.name(), token, OptionalLong.of(number), until);
  }

  /** Returns why the holder with this token has lost the lock, or empty if it holds the lock. */
  private Optional<LossReason> loss(String name, String token) {
    Holder holder = live(name);
    if (holder == null) {
      return Optional.of(LossReason.REMOVED);
    }
    return holder.token().equals(token) ? Optional.empty() : Optional.of(LossReason.TAKEN);
  }

  private void moveEnd(String name, LongUnaryOperator end) {
    holders.computeIfPresent(
        name,
        (same, held) -> new Holder(held.token(), held.owner(), end.applyAsLong(held.until())));
  }

  private @Nullable Holder live(String name) {
    Holder holder = holders.get(name);
    return holder == null || holder.until() - clock.nanos() <= 0 ? null : holder;
  }

  private final class Waiting<T> implements Unanswered {
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final Supplier<T> effect;
    private Optional<T> answer = Optional.empty();

    Waiting(Supplier<T> effect) {
      this.effect = effect;
    }

    @Override
    public void takeEffect() {
      synchronized (ScriptedBackend.this) {
        answer = Optional.of(effect.get());
      }
    }

    @Override
    public void answer() {
      if (answer.isEmpty()) {
        takeEffect();
      }
      result.complete(answer.orElseThrow());
    }

    @Override
    public void fail(RuntimeException failure) {
      result.completeExceptionally(failure);
    }

    @Override
    public void answerNothing() {
      result.complete(null);
    }
  }
}
