package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HeldLock;
import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.rules.HistoryLocks.Ended;
import dev.holdfast.tck.rules.ModelLock.Damage;
import dev.holdfast.tck.rules.ModelLock.Held;
import dev.holdfast.tck.rules.ModelLock.Kept;
import dev.holdfast.tck.rules.ModelLock.Span;
import dev.holdfast.tck.rules.ModelLock.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** The steps of a {@link History}, each of which makes calls and checks them by the model. */
final class HistorySteps {
  private static final Duration HOUR = Duration.ofHours(1);

  /** Waits for a lock that is free: longer than a machine stalls. */
  private static final Duration LONG_WAIT = Duration.ofSeconds(5);

  private static final int MAX_REOPENED = 2;
  private static final int MAX_EXPIRED = 2;

  /** Some calls, if the locks are such that they can be made. */
  @FunctionalInterface
  private interface Step {
    /** Returns false, and has done nothing, if it cannot be made now. */
    boolean made() throws Exception;
  }

  private final HistoryLocks locks;
  private final TckFixture fixture;
  private final Seed seed;
  private final HistoryChecks checks;
  private final HistoryTransfers transfers;
  private final HistoryForces forces;
  private final List<Step> steps = new ArrayList<>();
  private int reopened;
  private int expired;

  HistorySteps(HistoryLocks locks) {
    this.locks = locks;
    this.fixture = locks.fixture;
    this.seed = locks.seed;
    this.checks = locks.checks;
    this.transfers = new HistoryTransfers(locks);
    this.forces = new HistoryForces(locks);
    addSteps();
  }

  /** Makes a random step, of those that can be made. */
  void next() throws Exception {
    while (!seed.oneOf(steps).made()) {
      // another one
    }
  }

  /** Ends what is left, and checks it. */
  void finish() throws Exception {
    locks.note("the end");
    locks.all.stream().filter(lock -> lock.waiter != null).forEach(this::abandon);
    while (!locks.stolen.isEmpty()) {
      forces.isFound();
    }
    for (ModelLock lock : locks.all) {
      if (lock.held().isPresent()) {
        release(lock, lock.held().get());
      }
    }
    while (!locks.ended.isEmpty()) {
      checkEnded(locks.ended.remove(0));
    }
    locks.managers.forEach(
        manager -> assertThat(manager.leases()).as("leases when all are released").isEmpty());
  }

  private void addSteps() {
    add(8, this::asks);
    add(6, this::releases);
    add(2, this::looksAtEnded);
    add(2, this::runsTask);
    add(1, this::asksForAll);
    add(2, this::waits);
    add(1, this::abandons);
    add(1, this::lists);
    if (fixture.declares(LockCapability.EXTENSION)) {
      add(4, this::extendsOne);
    }
    if (fixture.declares(LockCapability.INSPECTION)) {
      add(4, this::inspects);
    }
    if (fixture.declares(LockCapability.HOLD_AT_LEAST)) {
      add(1, this::changesMinimum);
    }
    if (fixture.declares(LockCapability.TRANSFER) && checks.isWellThroughout()) {
      transfers.adoptOnAllNodes();
      add(2, transfers::transfers);
      add(2, transfers::adopts);
      add(1, transfers::adoptsWithoutSuccess);
    }
    if (fixture.declares(LockCapability.FORCE_RELEASE)) {
      add(3, forces::releasesByForce);
      add(2, forces::isFound);
    }
    if (checks.isWellThroughout()) {
      add(1, this::asksAtOnce);
      add(1, this::reopens);
      add(1, this::letsExpire);
    }
    if (checks.isWellThroughout() && fixture.nodes().size() > 2) {
      add(1, forces::occupiesAMinority);
      add(1, forces::losesAMinority);
    }
  }

  private void add(int weight, Step step) {
    IntStream.range(0, weight).forEach(i -> steps.add(step));
  }

  private boolean asks() throws InterruptedException {
    ModelLock lock = locks.anyLock();
    int manager = locks.anyManager();
    boolean free = lock.isFree();
    if (!free && !lock.isTaken()) {
      return false;
    }
    LockRequest request = waiting(locks.request(lock), free, lock.behind.contains(manager));
    Asking asking = seed.oneOf(List.of(Asking.values()));
    if (asking == Asking.ACQUIRE && request.waitAtMost().isEmpty()) {
      request = request.waitAtMost(Duration.ZERO);
    }
    locks.note(manager + ": " + asking + " of " + lock + ": " + request);

    long begun = System.nanoTime();
    Optional<Lease> lease = asking.ask(locks.managers.get(manager), request);
    if (free) {
      assertThat(lease).as("the lease on a free lock").isPresent();
      locks.granted(lock, manager, lease.get(), request, begun);
    } else {
      assertThat(lease).as("the lease on a lock that is taken").isEmpty();
      checks.unchanged(lock);
    }
    return true;
  }

  private boolean releases() {
    return locks.onHeld(lock -> true, this::release);
  }

  private void release(ModelLock lock, Held held) {
    Lease lease = held.lease();
    int way = seed.below(4);
    locks.note(held.manager() + ": releases " + lock + " in way " + way);
    long begun = System.nanoTime();
    switch (way) {
      case 0 -> assertThat(lease.release()).as("release()").isTrue();
      case 1 ->
          assertThat(fixture.soon().get("it is released", lease.releaseAsync()))
              .as("releaseAsync()")
              .isTrue();
      case 2 -> lease.close();
      default ->
          assertThat(Call.begin(lease::release).awaited(fixture).result())
              .as("release() by another thread")
              .contains(true);
    }
    locks.ended.add(new Ended(lease, true));
    Span minimum = held.minimum();
    if (minimum != null && !minimum.isOver()) {
      long took = System.nanoTime() - begun;
      lock.state = new Kept(held.label(), new Span(minimum.from(), minimum.to() + took));
    } else {
      locks.freed(lock);
    }
  }

  private boolean looksAtEnded() {
    if (locks.ended.isEmpty()) {
      return false;
    }
    checkEnded(seed.oneOf(locks.ended));
    return true;
  }

  private void checkEnded(Ended past) {
    Lease lease = past.lease();
    locks.note("calls of the ended lease on '" + lease.name() + "'");
    assertThat(lease.isHeld()).as("a lease that ended is held").isFalse();
    assertThat(lease.remaining()).as("the rest of a lease that ended").isZero();
    assertThat(lease.release()).as("release() once more").isEqualTo(past.confirmed());
    assertThatThrownBy(lease::requireHeld)
        .isInstanceOfAny(LockLostException.class, IllegalStateException.class);
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertThatThrownBy(() -> lease.extend(fixture.ttl()))
          .isInstanceOfAny(LockLostException.class, IllegalStateException.class);
    }
    lease.close();
    locks.all.stream().filter(lock -> lock.name().equals(lease.name())).forEach(checks::unchanged);
  }

  private boolean runsTask() throws Exception {
    ModelLock lock = locks.anyLock();
    int manager = locks.anyManager();
    if (!lock.isFree() && !lock.isTaken()) {
      return false;
    }
    LockManager runner = locks.managers.get(manager);
    LockRequest plain = LockRequest.of(lock.name(), HistoryValues.ttl(fixture, seed));
    locks.note(manager + ": runs a task under " + lock);
    if (!lock.isFree()) {
      assertThat(runner.tryRunLocked(plain, lease -> {})).as("a task has run").isFalse();
      assertThatThrownBy(() -> runner.runLocked(plain.waitAtMost(Duration.ZERO), lease -> {}))
          .isInstanceOf(LockContendedException.class);
      checks.unchanged(lock);
      return true;
    }
    LockRequest request = plain.waitAtMost(LONG_WAIT);
    if (seed.nextBoolean()) {
      String result = "result " + seed.below(1_000_000);
      assertThat(runner.<String, Exception>executeLocked(request, lease -> result))
          .as("the result of a task")
          .isEqualTo(result);
    } else {
      Exception failure = new Exception("of a task");
      assertThatThrownBy(
              () ->
                  runner.<String, Exception>tryExecuteLocked(
                      request,
                      lease -> {
                        throw failure;
                      }))
          .isSameAs(failure);
    }
    checks.free(lock);
    return true;
  }

  /** Asks by one manager for all free locks at the same time. */
  private boolean asksForAll() {
    int manager = locks.anyManager();
    List<ModelLock> free =
        locks.all.stream().filter(lock -> lock.isFree() && lock.behind.isEmpty()).toList();
    locks.note(manager + ": asks for all " + free.size() + " free locks at the same time");
    long begun = System.nanoTime();
    List<LockRequest> requests =
        free.stream().map(lock -> waiting(locks.request(lock), true, false)).toList();
    List<CompletableFuture<Optional<Lease>>> asked =
        requests.stream().map(locks.managers.get(manager)::tryAcquireAsync).toList();
    for (int i = 0; i < free.size(); i++) {
      Optional<Lease> lease = fixture.soon().get(free.get(i) + " is answered", asked.get(i));
      assertThat(lease).as("the lease on %s, which was free", free.get(i)).isPresent();
      locks.granted(free.get(i), manager, lease.get(), requests.get(i), begun);
    }
    return !free.isEmpty();
  }

  /** Asks by all managers for one lock at the same time. */
  private boolean asksAtOnce() {
    ModelLock lock = locks.anyLock();
    if (!lock.isFree() || !lock.behind.isEmpty()) {
      return false;
    }
    locks.note("all: ask for " + lock + " at the same time");
    long begun = System.nanoTime();
    List<LockRequest> requests = locks.managers.stream().map(each -> locks.request(lock)).toList();
    List<CompletableFuture<Optional<Lease>>> asked =
        IntStream.range(0, locks.managers.size())
            .mapToObj(i -> locks.managers.get(i).tryAcquireAsync(requests.get(i)))
            .toList();
    List<Integer> granted = new ArrayList<>();
    for (int i = 0; i < locks.managers.size(); i++) {
      if (fixture.soon().get(lock + " is answered", asked.get(i)).isPresent()) {
        granted.add(i);
      }
    }
    assertThat(granted).as("managers that got it").hasSizeLessThan(2);
    if (granted.isEmpty()) {
      checks.free(lock);
    } else {
      int winner = granted.get(0);
      locks.granted(
          lock, winner, asked.get(winner).join().orElseThrow(), requests.get(winner), begun);
    }
    return true;
  }

  private boolean waits() {
    return locks.onHeld(
        lock -> lock.waiter == null && !lock.mayBeKept(), (lock, held) -> waitFor(lock));
  }

  private void waitFor(ModelLock lock) {
    int manager = locks.anyManager();
    Duration ttl = HistoryValues.ttl(fixture, seed);
    Optional<String> label = Optional.of(HistoryValues.label(seed));
    LockRequest request = LockRequest.of(lock.name(), ttl).ownerLabel(label.get()).waitAtMost(HOUR);
    boolean blocking = seed.nextBoolean();
    locks.note(manager + ": waits " + (blocking ? "on a thread" : "") + " for " + lock);
    long begun = System.nanoTime();
    CompletableFuture<Lease> answer;
    Runnable abandon;
    if (blocking) {
      CompletableFuture<Lease> acquired = new CompletableFuture<>();
      Call<?> call = Call.begin(() -> passOn(acquired, locks.managers.get(manager), request));
      answer = acquired;
      abandon =
          () -> {
            call.interrupt();
            fixture.soon().until("the waiter was interrupted", acquired::isDone);
            assertThat(acquired).isCompletedExceptionally();
          };
    } else {
      CompletableFuture<Optional<Lease>> asked =
          locks.managers.get(manager).tryAcquireAsync(request);
      answer = asked.thenApply(Optional::orElseThrow);
      abandon = () -> asked.cancel(true);
    }
    lock.waiter = new Waiter(manager, label, ttl, begun, answer, abandon);
  }

  /** Waits for a lock, and passes the end of the wait on. */
  private static boolean passOn(
      CompletableFuture<Lease> answer, LockManager locks, LockRequest request) {
    try {
      return answer.complete(locks.acquire(request));
    } catch (InterruptedException | RuntimeException e) {
      return answer.completeExceptionally(e);
    }
  }

  private boolean abandons() {
    Optional<ModelLock> waited =
        locks.any(locks.all.stream().filter(lock -> lock.waiter != null).toList());
    waited.ifPresent(this::abandon);
    return waited.isPresent();
  }

  private void abandon(ModelLock lock) {
    Waiter waiter = lock.waiter;
    if (waiter == null) {
      return;
    }
    locks.note(waiter.manager() + ": no longer waits for " + lock);
    lock.waiter = null;
    lock.behind.add(waiter.manager());
    waiter.abandon().run();
    checks.unchanged(lock);
  }

  private boolean lists() {
    int manager = locks.anyManager();
    if (locks.stolen.stream().anyMatch(lease -> lease.manager() == manager)) {
      return false;
    }
    locks.note(manager + ": lists its leases");
    assertThat(locks.managers.get(manager).leases())
        .extracting(HeldLock::name)
        .containsExactlyInAnyOrderElementsOf(
            locks.all.stream()
                .filter(lock -> lock.held().map(Held::manager).equals(Optional.of(manager)))
                .map(ModelLock::name)
                .toList());
    return true;
  }

  private boolean reopens() {
    if (reopened == MAX_REOPENED) {
      return false;
    }
    reopened++;
    int manager = locks.anyManager();
    locks.note(manager + ": is closed, and opened again");
    locks.managers.get(manager).close();
    for (ModelLock lock : locks.all) {
      if (lock.state instanceof Held held && held.manager() == manager) {
        locks.ended.add(new Ended(held.lease(), false));
        lock.state = new Kept(held.label(), held.end());
      }
      Waiter waiter = lock.waiter;
      if (waiter != null && waiter.manager() == manager) {
        lock.waiter = null;
      }
      lock.behind.remove(manager);
    }
    locks.stolen.removeIf(lease -> lease.manager() == manager);
    locks.managers.set(manager, locks.open());
    locks.all.forEach(checks::unchanged);
    return true;
  }

  /** Lets a lease expire, whose lock another manager then gets. */
  private boolean letsExpire() {
    ModelLock lock = locks.anyLock();
    if (expired == MAX_EXPIRED || !lock.isFree() || lock.damage != Damage.NONE) {
      return false;
    }
    expired++;
    int first = locks.anyManager();
    int second = locks.anyManager();
    locks.note(first + ": lets its lease on " + lock + " expire, then " + second + " gets it");
    Lease lease =
        fixture.take(
            locks.managers.get(first),
            LockRequest.of(lock.name(), HistoryValues.shortTtl(fixture, seed)));
    fixture.awaitOver(lease);
    LockRequest request = LockRequest.of(lock.name(), fixture.ttl());
    long begun = System.nanoTime();
    locks.granted(lock, second, fixture.take(locks.managers.get(second), request), request, begun);
    locks.ended.add(new Ended(lease, false));
    return true;
  }

  private boolean extendsOne() {
    return locks.onHeld(lock -> true, this::extend);
  }

  private void extend(ModelLock lock, Held held) {
    Duration ttl = HistoryValues.ttl(fixture, seed);
    locks.note(held.manager() + ": extends " + lock + " by " + ttl);
    long begun = System.nanoTime();
    extend(held.lease(), ttl);
    Span end = held.end().orLater(Span.after(begun, System.nanoTime(), ttl));
    lock.state = new Held(held.manager(), held.lease(), held.label(), end, held.minimum());
    checks.unchanged(lock);
  }

  private void extend(Lease lease, Duration ttl) {
    try {
      extendOnce(lease, ttl);
    } catch (AssertionError | LockOutageException e) {
      boolean isOutage =
          e instanceof LockOutageException || e.getCause() instanceof LockOutageException;
      if (!mayLoseOneQuorum() || !isOutage) {
        throw e;
      }
      IgnoredFailures.add(e);
      extendOnce(lease, ttl);
    }
  }

  private void extendOnce(Lease lease, Duration ttl) {
    if (seed.nextBoolean()) {
      lease.extend(ttl);
    } else {
      fixture.soon().get("it is extended", lease.extendAsync(ttl).thenApply(done -> true));
    }
  }

  private boolean inspects() {
    ModelLock lock = locks.anyLock();
    int manager = locks.anyManager();
    boolean known = lock.isTaken() || (lock.isFree() && checks.isWellThroughout());
    if (lock.damage != Damage.NONE || !known) {
      return false;
    }
    locks.note(manager + ": inspects " + lock);
    checks.shown(lock, locks.managers.get(manager));
    return true;
  }

  private boolean changesMinimum() {
    return locks.onHeld(lock -> lock.waiter == null, this::holdAtLeast);
  }

  private void holdAtLeast(ModelLock lock, Held held) {
    Duration minimum = seed.nextBoolean() ? Duration.ZERO : HistoryValues.minimum(fixture, seed);
    locks.note(held.manager() + ": holds " + lock + " for at least " + minimum);
    long begun = System.nanoTime();
    held.lease().holdAtLeast(minimum);
    Span end = Span.after(begun, System.nanoTime(), minimum);
    lock.state = new Held(held.manager(), held.lease(), held.label(), held.end(), end);
    checks.unchanged(lock);
  }

  /**
   * Returns whether a late answer may cost an attempt, or an extension, its quorum, because other
   * nodes fail. The next one must have a quorum.
   */
  private boolean mayLoseOneQuorum() {
    return !checks.isWellThroughout();
  }

  /** Lets a request wait, or not: for a lock that is taken not for long. */
  private LockRequest waiting(LockRequest request, boolean free, boolean behind) {
    if (free && (behind || mayLoseOneQuorum())) {
      return request.waitAtMost(LONG_WAIT);
    }
    return switch (seed.below(3)) {
      case 0 -> request;
      case 1 -> request.waitAtMost(Duration.ZERO);
      default -> request.waitAtMost(free ? LONG_WAIT : Duration.ofMillis(1 + seed.below(8)));
    };
  }
}
