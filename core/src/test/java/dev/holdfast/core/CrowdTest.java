package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** WAIT-14: more concurrent requests than the backend is sent at once. */
class CrowdTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration RETRY = Duration.ofMillis(200);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration TICK = Duration.ofNanos(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).retryDelay(RETRY).build();

  @BeforeEach
  void holdBack() {
    backend.holdBack(Op.ATTEMPT);
  }

  @Test
  @Rule("WAIT-14")
  @DisplayName("at most 256 of a thousand attempts are in flight, and the others follow in order")
  void atMost256AttemptsAreInFlightAndTheOthersFollowInOrder() {
    List<CompletableFuture<Optional<Lease>>> all = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      all.add(manager.tryAcquireAsync(request("n" + i)));
    }
    assertThat(attempted()).hasSize(256);
    backend.next().answer();
    assertThat(attempted()).hasSize(257);
    while (backend.waitingForAnswers() > 0) {
      assertThat(backend.waitingForAnswers()).isLessThanOrEqualTo(256);
      backend.next().answer();
    }

    assertThat(attempted()).isEqualTo(IntStream.range(0, 1_000).mapToObj(i -> "n" + i).toList());
    assertThat(all)
        .allSatisfy(one -> assertThat(one).isCompletedWithValueMatching(Optional::isPresent));
    assertThat(time.pending()).hasSize(1_001); // the ends of their leases, and one for sleep
  }

  @Test
  void manyAttemptsThatEndAtOnceDoNotOverflowTheStack() {
    crowd();
    List<CompletableFuture<Optional<Lease>>> all = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      all.add(manager.tryAcquireAsync(request("n" + i)));
    }
    backend.answerAtOnce(Op.ATTEMPT);
    backend.next().answer();
    assertThat(all)
        .allSatisfy(one -> assertThat(one).isCompletedWithValueMatching(Optional::isPresent));
  }

  @Test
  void singleAttemptWaitsForAPermitWithoutLimit() throws Exception {
    crowd();
    Background<Optional<Lease>> late =
        Background.run(() -> manager.tryAcquire(request("late"))).awaitBlocked();
    LockSupport.parkNanos(50_000_000); // by the machine's clock, to which its thread waits
    time.advance(SECOND);
    assertThat(late.isDone()).isFalse();
    backend.answerAtOnce(Op.ATTEMPT);
    backend.next().answer();

    assertThat(late.result()).isPresent();
    assertThat(callOf("late").isLent()).isFalse(); // its thread is not used by the backend
  }

  @Test
  @Rule({"WAIT-5", "WAIT-14"})
  @DisplayName("a wake-up that coincides with a permit loses no waiter")
  void wakeUpThatCoincidesWithAPermitLosesNoWaiter() {
    AtomicReference<Runnable> atEachReading = new AtomicReference<>(() -> {});
    Clock clock =
        new Clock() {
          @Override
          public long nanos() {
            Runnable once = atEachReading.getAndSet(() -> {});
            once.run();
            atEachReading.set(once);
            return time.nanos();
          }

          @Override
          public long wallMicros() {
            return time.wallMicros();
          }
        };
    LockManager locks = ScriptedBackend.manager(backend, time).clock(clock).build();
    for (int i = 0; i < 256; i++) {
      locks.tryAcquireAsync(request("crowd " + i));
    }
    CompletableFuture<Optional<Lease>> late =
        locks.tryAcquireAsync(request("late").waitAtMost(TTL));
    AtomicInteger wakeUps = new AtomicInteger();
    atEachReading.set(
        () -> {
          if (wakeUps.getAndIncrement() < 20) { // more would keep the waiter busy
            locks.forceRelease("late");
          }
        });

    backend.answerAtOnce(Op.ATTEMPT);
    backend.next().answer();

    assertThat(wakeUps).hasPositiveValue();
    assertThat(late).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void attemptsReceivePermitsInOrder() throws Exception {
    crowd();
    manager.tryAcquireAsync(request("first"));
    manager.tryAcquireAsync(request("second"));
    backend.next().answer();
    assertThat(attempted()).endsWith("first");
    backend.next().answer();
    assertThat(attempted()).endsWith("first", "second");
  }

  @Test
  void newAttemptDoesNotOvertakeQueuedAttempts() {
    crowd();
    manager.tryAcquireAsync(request("first"));
    manager.tryAcquireAsync(request("second"));
    AtomicBoolean once = new AtomicBoolean(true);
    backend.beforeEachCall(
        () -> {
          if (once.getAndSet(false)) {
            backend.next().answer();
            manager.tryAcquireAsync(request("newcomer"));
          }
        });
    backend.next().answer();
    assertThat(attempted()).endsWith("first", "second");
    backend.next().answer();
    assertThat(attempted()).endsWith("newcomer");
  }

  @Test
  void newReleaseDoesNotOvertakeQueuedReleases() throws Exception {
    List<Lease> leases = acquire(3);
    backend.holdBack(Op.ATTEMPT);
    backend.holdBack(Op.RELEASE);
    crowd();
    leases.get(0).releaseAsync();
    leases.get(1).releaseAsync();
    AtomicBoolean once = new AtomicBoolean(true);
    backend.beforeEachCall(
        () -> {
          if (once.getAndSet(false)) {
            backend.next().answer();
            leases.get(2).releaseAsync();
          }
        });
    backend.next().answer();
    backend.next().answer();
    assertThat(backend.calls(Op.RELEASE)).extracting(Call::name).containsExactly("n0", "n1", "n2");
  }

  @Test
  void waiterUnderLoadIsHandedTheLockOfItsOwnManager() throws Exception {
    Lease lease = acquire(1).get(0);
    backend.holdBack(Op.ATTEMPT);
    backend.holdBack(Op.RELEASE);
    crowd();
    manager.tryAcquireAsync(request("other"));
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(request("n0").waitForever());
    lease.releaseAsync();
    backend.next().answer();
    assertThat(attempted()).endsWith("n0");
    assertThat(next).isNotDone();
  }

  @Test
  @Rule("WAIT-14")
  @DisplayName("a wait that ends before a permit reports that no attempt was made")
  void waitThatEndsBeforeAPermitReportsThatNoAttemptWasMade() {
    crowd();
    CompletableFuture<Optional<Lease>> late =
        manager.tryAcquireAsync(request("late").waitAtMost(SECOND));
    time.advance(SECOND.minus(TICK));
    assertThat(late).isNotDone();
    time.advance(TICK);

    assertThat(late)
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOf(LockOutageException.class)
        .withMessage(
            "'late' was not attempted within 1000 ms: this manager already has 256 operations in"
                + " flight; wait longer, or ask for fewer locks at a time");
    backend.next().answer();
    assertThat(attempted()).doesNotContain("late");
  }

  @Test
  void permitAfterTheEndOfTheWaitStartsNoAttempt() {
    backend.giveToAnother("held", TTL);
    manager.tryAcquireAsync(request("held").waitAtMost(SECOND));
    backend.next().answer();
    crowd();
    manager.tryAcquireAsync(request("late").waitAtMost(SECOND));
    time.advance(RETRY);
    time.passUnnoticed(SECOND);
    backend.next().answer();
    backend.next().answer();
    assertThat(attempted()).doesNotContain("late").filteredOn("held"::equals).hasSize(1);
  }

  @Test
  void backendDoesNotUseTheThreadOfAReleaseThatWaitsForAPermit() throws Exception {
    Lease lease = acquire(1).get(0);
    backend.holdBack(Op.ATTEMPT);
    crowd();
    Background<Boolean> release = Background.run(lease::release).awaitBlocked();
    backend.next().answer();
    assertThat(release.result()).isTrue();
    assertThat(backend.calls(Op.RELEASE)).singleElement().matches(call -> !call.isLent());
  }

  @Test
  void requestCancelledBeforeItsPermitMakesNoAttempt() {
    crowd();
    CompletableFuture<Optional<Lease>> given = manager.tryAcquireAsync(request("given up"));
    CompletableFuture<Optional<Lease>> kept = manager.tryAcquireAsync(request("kept"));
    given.cancel(false);
    backend.next().answer();
    assertThat(attempted()).doesNotContain("given up").endsWith("kept");
    assertThat(kept).isNotDone();
  }

  @Test
  void laterAttemptsOfAWaiterNeedAPermit() {
    backend.giveToAnother("held", TTL);
    CompletableFuture<Optional<Lease>> waiting =
        manager.tryAcquireAsync(request("held").waitAtMost(SECOND));
    backend.next().answer();
    crowd();
    time.advance(RETRY);
    assertThat(attempted()).filteredOn("held"::equals).hasSize(1);
    backend.next().answer();
    assertThat(attempted()).filteredOn("held"::equals).hasSize(2);
    assertThat(waiting).isNotDone();
  }

  @Test
  void waiterWithoutAPermitTimesOut() {
    backend.giveToAnother("held", TTL);
    CompletableFuture<Optional<Lease>> waiting =
        manager.tryAcquireAsync(request("held").waitAtMost(SECOND));
    backend.next().answer();
    crowd();
    time.advance(SECOND.minus(TICK));
    assertThat(waiting).isNotDone();
    time.advance(TICK);
    assertThat(waiting).isCompletedWithValue(Optional.empty());
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void nextWaiterInTheQueueNeedsAPermit() {
    backend.giveToAnother("x", TTL);
    CompletableFuture<Optional<Lease>> head = manager.tryAcquireAsync(request("x"));
    CompletableFuture<Optional<Lease>> next =
        manager.tryAcquireAsync(request("x").waitAtMost(SECOND));
    crowd();
    manager.tryAcquireAsync(request("other"));
    backend.next().answer();

    assertThat(head).isCompletedWithValue(Optional.empty());
    assertThat(attempted()).endsWith("other");
    assertThat(next).isNotDone();
    backend.next().answer();
    assertThat(attempted()).endsWith("x");
  }

  @Test
  @Rule("WAIT-14")
  @DisplayName("a handoff needs no permit")
  void handoffNeedsNoPermit() throws Exception {
    backend.answerAtOnce(Op.ATTEMPT);
    Lease lease = manager.acquire(request("x"));
    CompletableFuture<Optional<Lease>> next = manager.tryAcquireAsync(request("x").waitForever());
    backend.holdBack(Op.ATTEMPT);
    backend.holdBack(Op.RELEASE);
    crowd(255);
    lease.releaseAsync();
    assertThat(attempted()).endsWith("x");
    assertThat(next).isNotDone();
  }

  @Test
  void atMost256ReleasesAreInFlightAndTheOthersPrecedeAllAttempts() throws Exception {
    List<Lease> leases = acquire(1_000);
    backend.holdBack(Op.RELEASE);
    backend.holdBack(Op.ATTEMPT);
    List<CompletableFuture<Boolean>> released =
        leases.subList(0, 500).stream().map(Lease::releaseAsync).toList();
    CompletableFuture<Optional<Lease>> late = manager.tryAcquireAsync(request("late"));
    leases.subList(500, 1_000).forEach(Lease::releaseAsync);
    assertThat(backend.calls(Op.RELEASE)).hasSize(256);

    for (int i = 256; i < 1_000; i++) {
      backend.next().answer();
      assertThat(attempted()).doesNotContain("late");
      assertThat(backend.calls(Op.RELEASE)).hasSize(i + 1);
    }
    assertThat(released).allSatisfy(one -> assertThat(one).isCompletedWithValue(true));
    backend.next().answer();
    assertThat(attempted()).endsWith("late");
    assertThat(late).isNotDone();
  }

  @Test
  @Rule("EXT-9")
  @DisplayName("an extension that waits for a permit ends with its lease")
  void extensionThatWaitsForAPermitEndsWithItsLease() throws Exception {
    Lease lease = acquire(1).get(0);
    backend.holdBack(Op.ATTEMPT);
    crowd();
    CompletableFuture<Void> extension = lease.extendAsync(TTL);

    time.advance(TTL);

    assertThat(extension).isCompletedExceptionally();
  }

  @Test
  @Rule("EXT-9")
  @DisplayName("a hundred thousand queued extensions end with their lease")
  void manyQueuedExtensionsEndWithTheirLease() throws Exception {
    Lease lease = acquire(1).get(0);
    backend.holdBack(Op.EXTEND);
    List<CompletableFuture<Void>> extensions =
        IntStream.range(0, 100_000).mapToObj(i -> lease.extendAsync(TTL)).toList();

    time.advance(TTL);
    backend.next().answer();

    assertThat(extensions).allMatch(CompletableFuture::isCompletedExceptionally);
    backend.answerAtOnce(Op.ATTEMPT);
    acquire(300); // all of which had no room if one of them still counted
  }

  @Test
  void extensionIsMeasuredFromWhenItReceivesItsPermit() throws Exception {
    Lease lease = acquire(1).get(0);
    backend.holdBack(Op.ATTEMPT);
    crowd();
    CompletableFuture<Void> extended = lease.extendAsync(TTL);
    time.advance(SECOND);
    assertThat(backend.calls(Op.EXTEND)).isEmpty();
    backend.next().answer();
    assertThat(extended).isCompleted();
    assertThat(backend.calls(Op.EXTEND)).singleElement().matches(call -> call.at() == time.nanos());
  }

  @Test
  void closingWaitsForQueuedReleases() throws Exception {
    List<Lease> leases = acquire(1_000);
    backend.holdBack(Op.RELEASE);
    leases.forEach(Lease::releaseAsync);
    Background<?> closing = close();
    while (backend.waitingForAnswers() > 0) {
      assertThat(closing.isDone()).isFalse();
      backend.next().answer();
    }
    closing.result();
    assertThat(backend.calls(Op.RELEASE)).hasSize(1_000);
    assertThat(backend.callsAfterClose()).isZero();
  }

  @Test
  void closingFailsQueuedAttempts() throws Exception {
    crowd();
    CompletableFuture<Optional<Lease>> late = manager.tryAcquireAsync(request("late"));
    Background<?> closing = close();
    assertThat(late).isCompletedExceptionally();
    while (backend.waitingForAnswers() > 0) {
      backend.next().answer();
    }
    closing.result();
    assertThat(attempted()).doesNotContain("late");
    assertThat(backend.callsAfterClose()).isZero();
  }

  private List<Lease> acquire(int count) throws Exception {
    backend.answerAtOnce(Op.ATTEMPT);
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      leases.add(manager.acquire(request("n" + i)));
    }
    return leases;
  }

  private Background<?> close() throws Exception {
    return Background.closing(manager).awaitBlocked();
  }

  /** Starts as many attempts as there are permits, none of them answered. */
  private void crowd() {
    crowd(256);
  }

  private void crowd(int size) {
    for (int i = backend.waitingForAnswers(); i < size; i++) {
      manager.tryAcquireAsync(request("crowd " + i));
    }
  }

  private List<String> attempted() {
    return backend.calls(Op.ATTEMPT).stream().map(Call::name).toList();
  }

  private Call callOf(String name) {
    return backend.calls(Op.ATTEMPT).stream()
        .filter(call -> call.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static LockRequest request(String name) {
    return LockRequest.of(name, TTL);
  }
}
