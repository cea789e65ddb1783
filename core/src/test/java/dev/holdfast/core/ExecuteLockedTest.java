package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ExecuteLockedTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();
  private final CountDownLatch never = new CountDownLatch(1);

  @Test
  void theTaskRunsWhileTheLockIsHeldAndItsResultIsReturnedAfterTheRelease() throws Exception {
    String result =
        manager.executeLocked(
            REQUEST,
            lease -> {
              lease.requireHeld();
              assertThat(backend.holder("x")).contains(lease.token());
              return "done";
            });
    assertThat(result).isEqualTo("done");
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void exceptionOfTheTaskIsThrownAfterTheRelease() {
    IOException failure = new IOException("the disk is full");
    assertThatThrownBy(
            () ->
                manager.<String, IOException>executeLocked(
                    REQUEST,
                    lease -> {
                      throw failure;
                    }))
        .isSameAs(failure);
    assertThat(backend.holder("x")).isEmpty();
  }

  @Test
  void theTaskIsInterruptedWhenTheLeaseIsLostAndThenTheLossIsThrown() throws Exception {
    Background<String> call = workForever(REQUEST);
    time.advance(TTL);
    assertThat(call.failure())
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED))
        .hasCauseInstanceOf(InterruptedException.class);
    assertThat(call.interruptedAtEnd()).as("the interrupt was ours").isFalse();
  }

  @Test
  void aLossThatIsThrownIsNotLoggedToo() throws Exception {
    try (Warnings warnings = Warnings.of(Lease.class)) {
      assertThatThrownBy(this::outliveTheLease).isInstanceOf(LockLostException.class);
      assertThat(warnings.texts()).isEmpty();
    }
  }

  @Test
  void resultOfATaskThatIgnoresTheInterruptIsDiscarded() throws Exception {
    Background<String> call =
        Background.run(
            () ->
                manager.executeLocked(
                    REQUEST,
                    lease -> {
                      time.advance(TTL);
                      assertThat(Thread.currentThread().isInterrupted()).isTrue();
                      return "unprotected";
                    }));
    assertThat(call.failure())
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));
    assertThat(call.interruptedAtEnd()).isFalse();
  }

  @Test
  void taskThatOutlivesItsLeaseFailsEvenIfNoTimerHasRun() {
    assertThatThrownBy(this::outliveTheLease).isInstanceOf(LockLostException.class);
  }

  @Test
  void lossIsThrownEvenIfTheTaskThrows() {
    IOException failure = new IOException("the disk is full");
    assertThatThrownBy(
            () ->
                manager.<String, IOException>executeLocked(
                    REQUEST,
                    lease -> {
                      time.passUnnoticed(TTL);
                      throw failure;
                    }))
        .isInstanceOf(LockLostException.class)
        .hasCause(failure);
  }

  @Test
  void aTaskThatIsKeptAliveIsNotLostUntilItsLongestHold() throws Exception {
    Background<String> call = workForever(REQUEST.keepAliveUpTo(Duration.ofMinutes(2)));
    time.advance(Duration.ofMinutes(2).minusNanos(1000));
    assertThat(call.isDone()).isFalse();
    time.advance(Duration.ofNanos(1000));
    assertThat(call.failure())
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.MAX_HOLD));
  }

  @Test
  void aTaskThatReleasesItselfHasItsResultReturned() throws Exception {
    assertThat(manager.<Boolean, RuntimeException>executeLocked(REQUEST, Lease::release)).isTrue();
  }

  @Test
  void theTaskIsNotCalledWithoutTheLock() {
    backend.giveToAnother("x", TTL);
    assertThatThrownBy(
            () ->
                manager.executeLocked(
                    REQUEST.waitAtMost(Duration.ZERO),
                    lease -> {
                      throw new AssertionError("called without the lock");
                    }))
        .isInstanceOf(LockContendedException.class);
  }

  @Test
  void callersInterruptReachesTheTask() throws Exception {
    Background<String> call = workForever(REQUEST);
    call.interrupt();
    assertThat(call.failure()).isInstanceOf(InterruptedException.class);
    assertThat(backend.holder("x")).isEmpty();
  }

  /** Runs a task that outlives its lease while no timer fires. */
  private void outliveTheLease() throws InterruptedException {
    manager.executeLocked(
        REQUEST,
        lease -> {
          time.passUnnoticed(TTL);
          return "unprotected";
        });
  }

  /** Runs a task that only an interrupt ends, and returns when the task waits. */
  private Background<String> workForever(LockRequest request) {
    return Background.run(
            () ->
                manager.executeLocked(
                    request,
                    lease -> {
                      never.await();
                      return "unprotected";
                    }))
        .awaitBlocked();
  }
}
