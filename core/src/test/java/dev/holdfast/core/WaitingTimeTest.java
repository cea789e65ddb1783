package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockVotes;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The length of a wait, and the attempts during it. */
class WaitingTimeTest {
  private static final Duration TTL = Duration.ofSeconds(60);
  private static final Duration RETRY = Duration.ofMillis(200);
  private static final Duration TICK = Duration.ofNanos(1);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager =
      ScriptedBackend.manager(backend, time).retryDelay(RETRY).build();

  @Test
  void tryAcquireMakesOneAttemptByDefault() throws Exception {
    backend.giveToAnother("x", TTL);
    assertThat(manager.tryAcquire(REQUEST)).isEmpty();
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(1);
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void acquireWaitsForeverByDefault() throws Exception {
    backend.giveToAnother("x", Duration.ofMinutes(10));
    Background<Lease> waiting = Background.run(() -> manager.acquire(REQUEST)).awaitBlocked();
    time.advance(Duration.ofMinutes(10).minus(TICK));
    assertThat(waiting.isDone()).isFalse();
    time.advance(RETRY.plus(TICK));
    assertThat(waiting.result().isHeld()).isTrue();
  }

  @Test
  void aWaitEndsNeitherBeforeNorAfterItsTime() {
    backend.giveToAnother("x", TTL);
    assertThatAWaitEndsAtItsLimit();
    assertThat(time.pending()).isEmpty();
  }

  @Test
  void aWaitBehindOthersEndsNeitherBeforeNorAfterItsTime() {
    backend.giveToAnother("x", TTL);
    manager.tryAcquireAsync(REQUEST.waitForever());
    assertThatAWaitEndsAtItsLimit();
  }

  private void assertThatAWaitEndsAtItsLimit() {
    CompletableFuture<Optional<Lease>> waiting =
        manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    time.advance(Duration.ofSeconds(1).minus(TICK));
    assertThat(waiting).isNotDone();
    time.advance(TICK);
    assertThat(waiting).isCompletedWithValue(Optional.empty());
  }

  @Test
  void noAttemptStartsAfterTheWait() {
    backend.giveToAnother("x", TTL);
    long begun = time.nanos();
    manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    time.advance(Duration.ofSeconds(5));

    List<Call> attempts = backend.calls(Op.ATTEMPT);
    assertThat(attempts).hasSizeBetween(6, 11);
    assertThat(attempts)
        .allSatisfy(
            attempt ->
                assertThat(attempt.at() - begun).isLessThan(Duration.ofSeconds(1).toNanos()));
  }

  @Test
  void turnAfterTheEndOfTheWaitStartsNoAttempt() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> first = manager.tryAcquireAsync(REQUEST);
    CompletableFuture<Optional<Lease>> second =
        manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    time.passUnnoticed(Duration.ofSeconds(1));
    backend.giveToAnother("x", TTL);
    backend.next().answer();
    time.advance(Duration.ZERO);

    assertThat(first).isCompletedWithValue(Optional.empty());
    assertThat(second).isCompletedWithValue(Optional.empty());
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(1);
  }

  @Test
  void attemptInFlightAtTheEndOfTheWaitIsNotCutShort() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> waiting =
        manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    time.advance(Duration.ofSeconds(2));
    assertThat(waiting).isNotDone();
    backend.next().answer();
    assertThat(waiting).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void anAttemptThatIsRefusedAfterTheEndOfTheWaitIsTheLast() {
    backend.holdBack(Op.ATTEMPT);
    CompletableFuture<Optional<Lease>> waiting =
        manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofSeconds(1)));
    time.advance(Duration.ofSeconds(2));
    backend.giveToAnother("x", TTL);
    backend.next().answer();
    assertThat(waiting).isCompletedWithValue(Optional.empty());
    assertThat(backend.waitingForAnswers()).isZero();
  }

  @Test
  void contentionReportsTheVotesAndTheTimeWaited() throws Exception {
    backend.giveToAnother("x", TTL);
    Background<Lease> waiting =
        Background.run(() -> manager.acquire(REQUEST.waitAtMost(Duration.ofSeconds(1))))
            .awaitBlocked();
    time.advance(Duration.ofSeconds(1));
    assertThat(waiting.failure())
        .isInstanceOfSatisfying(
            LockContendedException.class,
            e -> {
              assertThat(e.waited()).isEqualTo(Duration.ofSeconds(1));
              assertThat(e.votes().granted()).isZero();
              assertThat(e.votes().refused()).isOne();
              assertThat(e.votes().unanswered()).isZero();
            });
  }

  @Test
  void contentionBehindOthersReportsTheVotesOfTheFirst() throws Exception {
    backend.giveToAnother("x", TTL);
    manager.tryAcquireAsync(REQUEST.waitForever());
    assertThatThrownBy(() -> manager.acquire(REQUEST.waitAtMost(Duration.ZERO)))
        .isInstanceOfSatisfying(
            LockContendedException.class, e -> assertThat(e.votes().refused()).isOne());
  }

  @Test
  void contentionWithoutAnAttemptReportsNoVotes() {
    backend.holdBack(Op.ATTEMPT);
    manager.tryAcquireAsync(REQUEST.waitForever());
    assertThatThrownBy(() -> manager.acquire(REQUEST.waitAtMost(Duration.ZERO)))
        .isInstanceOfSatisfying(
            LockContendedException.class, e -> assertThat(e.votes()).isEqualTo(LockVotes.NONE));
  }

  @Test
  void everyPauseIsDrawnFromTheUpperHalfOfTheRetryDelay() {
    backend.giveToAnother("x", Duration.ofDays(1));
    manager.tryAcquireAsync(REQUEST.waitForever());
    List<Duration> pauses = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Duration pause = time.pending().get(0);
      pauses.add(pause);
      time.advance(pause);
    }
    assertThat(backend.calls(Op.ATTEMPT)).hasSize(1001);
    assertThat(pauses)
        .allMatch(p -> p.compareTo(RETRY.dividedBy(2)) >= 0 && p.compareTo(RETRY) <= 0)
        .anyMatch(p -> p.compareTo(Duration.ofMillis(120)) < 0)
        .anyMatch(p -> p.compareTo(Duration.ofMillis(180)) > 0);
  }

  @Test
  void theShortestPauseIsHalfTheRetryDelayAndTheLongestAllOfIt() {
    assertThat(pauseWith(() -> 0)).isEqualTo(RETRY.dividedBy(2));
    long mostOfABound = RETRY.dividedBy(2).toNanos();
    RandomGenerator largest =
        new RandomGenerator() {
          @Override
          public long nextLong() {
            return -1;
          }

          @Override
          public long nextLong(long bound) {
            assertThat(bound).isEqualTo(mostOfABound + 1);
            return bound - 1;
          }
        };
    assertThat(pauseWith(largest)).isEqualTo(RETRY);
  }

  @Test
  void managersWithTheSameSeedPauseAlikeAndOthersDoNot() {
    assertThat(pausesWith(7)).isEqualTo(pausesWith(7)).isNotEqualTo(pausesWith(8));
  }

  @Test
  void thePauseIsCutToWhatIsLeftOfTheWait() {
    backend.giveToAnother("x", TTL);
    manager.tryAcquireAsync(REQUEST.waitAtMost(Duration.ofMillis(10)));
    assertThat(time.pending()).containsExactly(Duration.ofMillis(10));
  }

  @Test
  void blockedWaiterTimesOutWithAClosedScheduler() throws Exception {
    Scheduler closed = Scheduler.create("closed");
    closed.close();
    ScriptedBackend busy = new ScriptedBackend(Clock.system());
    busy.giveToAnother("x", TTL);
    LockManager stranded =
        LockManagerBuilder.over(busy).scheduler(closed).callbacks(Runnable::run).build();
    LockRequest limited = REQUEST.waitAtMost(Duration.ofMillis(20));

    Background<Optional<Lease>> first = Background.run(() -> stranded.tryAcquire(limited));
    assertThat(first.result()).isEmpty();
    stranded.tryAcquireAsync(REQUEST.waitForever());
    Background<Optional<Lease>> behind = Background.run(() -> stranded.tryAcquire(limited));
    assertThat(behind.result()).isEmpty();
  }

  /** Returns the time of a manager of its own, one of whose requests waits. */
  private static ManualTime clockOfAWaiter(RandomGenerator random) {
    ManualTime own = new ManualTime();
    ScriptedBackend busy = new ScriptedBackend(own);
    busy.giveToAnother("x", TTL);
    ScriptedBackend.manager(busy, own)
        .retryDelay(RETRY)
        .random(random)
        .build()
        .tryAcquireAsync(REQUEST.waitForever());
    return own;
  }

  private static List<Duration> pausesWith(long seed) {
    ManualTime own = clockOfAWaiter(new Random(seed));
    List<Duration> pauses = new ArrayList<>();
    while (pauses.size() < 20) {
      Duration pause = own.pending().get(0);
      pauses.add(pause);
      own.advance(pause);
    }
    return pauses;
  }

  private Duration pauseWith(RandomGenerator random) {
    ManualTime own = clockOfAWaiter(random);
    assertThat(own.pending()).hasSize(1);
    return own.pending().get(0);
  }
}
