package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A task is run under a lock if the lock is free, and work without a result is run under a lock.
 */
public abstract class TryExecuteLockedRules {
  final TckFixture fixture;

  public TryExecuteLockedRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that tryExecuteLocked returns the result of the task, and releases")
  void tryExecuteLockedReturnsTheResultOfTheTaskAndReleases() throws InterruptedException {
    Used used = new Used();

    Optional<String> result =
        fixture.open().tryExecuteLocked(request("task"), lease -> used.by(lease));

    assertThat(result).contains("done");
    used.assertHeldAndReleased();
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that tryRunLocked is true when the work was done, and releases")
  void tryRunLockedIsTrueAndReleases() throws InterruptedException {
    Used used = new Used();

    boolean isDone = fixture.open().tryRunLocked(request("task"), used::by);

    assertThat(isDone).isTrue();
    used.assertHeldAndReleased();
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that runLocked does the work under the lock, and releases")
  void runLockedDoesTheWorkAndReleases() throws InterruptedException {
    Used used = new Used();

    fixture.open().runLocked(request("task"), used::by);

    used.assertHeldAndReleased();
  }

  /** Throws errors, too, and in each way to call, because each way has its own release. */
  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that the lock is released whatever the work throws, an Error included")
  void theFailureOfTheWorkIsThrownAndTheLockReleased() {
    LockManager locks = fixture.open();
    for (FailingTask task : FailingTask.all()) {
      Map<String, ThrowingCallable> ways =
          Map.of(
              "tryExecuteLocked", () -> locks.tryExecuteLocked(request("task"), task),
              "runLocked", () -> locks.runLocked(request("run"), task::call),
              "tryRunLocked", () -> locks.tryRunLocked(request("try-run"), task::call));

      ways.forEach(
          (way, call) ->
              assertThat(catchThrowable(call)).as("thrown by %s", way).isSameAs(task.failure()));
      assertThat(task.leases()).as("leases of %s", task).hasSize(ways.size());
      assertThat(task.leases()).as("after %s", task).noneMatch(Lease::isHeld);
    }
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that the task runs only if tryAcquire got the lock")
  void tryExecuteLockedIsEmptyWhileAnotherOwnerHoldsTheLock() throws InterruptedException {
    LockManager locks = fixture.open();
    LockRequest request = contended(locks);
    Used used = new Used();

    Optional<String> result = locks.tryExecuteLocked(request, used::by);

    assertThat(result).isEmpty();
    used.assertUnused();
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that tryRunLocked is false, and does no work, without the lock")
  void tryRunLockedIsFalseWhileAnotherOwnerHoldsTheLock() throws InterruptedException {
    LockManager locks = fixture.open();
    LockRequest request = contended(locks);
    Used used = new Used();

    boolean isDone = locks.tryRunLocked(request, used::by);

    assertThat(isDone).isFalse();
    used.assertUnused();
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that the result null of a task is an error that names tryRunLocked")
  @SuppressWarnings("NullAway") // null is the mistake
  void aTaskOfTryExecuteLockedMustNotReturnNull() {
    LockManager locks = fixture.open();
    Used used = new Used();

    assertThatThrownBy(
            () ->
                locks.tryExecuteLocked(
                    request("null"),
                    lease -> {
                      used.by(lease);
                      return nothing();
                    }))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("tryRunLocked");
    used.assertHeldAndReleased();
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails("check that tryExecuteLocked interrupts the task's thread when onLoss() completes")
  void tryExecuteLockedInterruptsTheTaskOfALostLeaseAndSaysSo() {
    Retries.anyOf(
        () -> {
          AtomicBoolean interrupted = new AtomicBoolean();
          LockManager locks = fixture.openForShortTtl();

          Throwable thrown =
              catchThrowable(
                  () ->
                      locks.tryExecuteLocked(
                          LockRequest.of(fixture.name("task"), fixture.briefTtl())
                              .waitAtMost(fixture.timing().soon()),
                          lease -> {
                            interrupted.set(fixture.soon().endsByInterrupt());
                            return "over";
                          }));

          assertThat(interrupted).as("the task was interrupted").isTrue();
          assertThat(thrown).isInstanceOf(LockLostException.class);
          assertThat(Thread.currentThread().isInterrupted()).as("so is its caller").isFalse();
        });
  }

  @Test
  @Rule("ACQ-18")
  @IfThisFails(
      "check that an empty result comes from tryAcquire alone, and not from what the task throws")
  void theContentionOfAnotherLockInsideTheTaskIsThrown() throws InterruptedException {
    LockManager locks = fixture.open();
    LockRequest held = contended(locks).waitAtMost(Duration.ofMillis(1));
    Used used = new Used();

    assertThatThrownBy(
            () ->
                locks.tryExecuteLocked(
                    request("task"),
                    lease -> {
                      used.by(lease);
                      return locks.acquire(held);
                    }))
        .isInstanceOf(LockContendedException.class);
    assertThatThrownBy(() -> locks.tryRunLocked(request("work"), lease -> locks.acquire(held)))
        .isInstanceOf(LockContendedException.class);
    used.assertHeldAndReleased();
  }

  private static @Nullable String nothing() {
    return null;
  }

  private LockRequest request(String end) {
    return fixture.request(fixture.name(end));
  }

  /**
   * Returns a request for a lock that another owner holds. Another rule covers the answer of {@code
   * tryAcquire}.
   */
  private LockRequest contended(LockManager locks) throws InterruptedException {
    LockRequest request = request("held");
    Contender.holding(fixture, request.name());
    boolean isFree;
    try {
      isFree = locks.tryAcquire(request).isPresent();
    } catch (LockException e) {
      isFree = true;
    }
    if (isFree) {
      AnotherRule.isBroken("tryAcquire is not empty while another owner holds the lock");
    }
    return request;
  }

  /** The leases that a task was given. */
  private static final class Used {
    private final List<Lease> leases = new ArrayList<>();
    private boolean held;

    String by(Lease lease) {
      leases.add(lease);
      held = lease.isHeld();
      return "done";
    }

    void assertHeldAndReleased() {
      assertThat(leases).as("the work was done once").hasSize(1);
      assertThat(held).as("it was held in the task").isTrue();
      assertThat(leases.get(0).isHeld()).as("it is held after the task").isFalse();
    }

    void assertUnused() {
      assertThat(leases).as("work was done without the lock").isEmpty();
    }
  }
}
