package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(20)
@ExtendWith(NothingLeftBehind.class)
class ExecuteHoldingTest {
  private static final LockRequest REQUEST = LockRequest.of("stock", Duration.ofSeconds(10));

  private final InMemoryLocks locks = new InMemoryLocks();

  @Test
  void theLeaseIsHeldAfterTheTask() throws Exception {
    Lease lease = locks.acquire(REQUEST);

    assertThat(Locks.<String, RuntimeException>executeHolding(lease, Lease::name))
        .isEqualTo("stock");
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  void theLeaseIsHeldAfterATaskThatThrows() throws Exception {
    Lease lease = locks.acquire(REQUEST);

    assertThatAFailureIsThrown(lease);
    assertThat(lease.isHeld()).isTrue();
  }

  private static void assertThatAFailureIsThrown(Lease lease) {
    IOException thrown = new IOException("disk full");
    assertThatThrownBy(
            () ->
                Locks.runHolding(
                    lease,
                    held -> {
                      throw thrown;
                    }))
        .isSameAs(thrown);
  }

  /** A leader may run a task each second, for months, under one lease. */
  @Test
  void leaseRetainsNoEndedTasks() throws Exception {
    Lease lease = locks.acquire(REQUEST);

    for (int i = 0; i < 3; i++) {
      Locks.runHolding(lease, held -> assertThat(dependents(held)).isEqualTo(1));
      assertThatAFailureIsThrown(lease);
    }
    assertThat(dependents(lease)).isZero();
  }

  private static int dependents(Lease lease) {
    return lease.onLoss().getNumberOfDependents();
  }

  @Test
  void aLossInterruptsTheTaskAndIsThrownInPlaceOfTheInterrupt() throws Exception {
    Lease lease = locks.acquire(REQUEST);
    CountDownLatch inTask = new CountDownLatch(1);
    Thread thief = new Thread(() -> loseAfter(inTask));
    thief.start();

    assertThatThrownBy(
            () ->
                Locks.executeHolding(
                    lease,
                    held -> {
                      inTask.countDown();
                      return new CountDownLatch(1).await(1, TimeUnit.DAYS);
                    }))
        .isInstanceOf(LockLostException.class)
        .hasCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void aTaskThatSwallowsTheInterruptFailsAnyway() throws Exception {
    Lease lease = locks.acquire(REQUEST);

    assertThatThrownBy(() -> Locks.runHolding(lease, held -> locks.lose("stock", LossReason.TAKEN)))
        .isInstanceOf(LockLostException.class)
        .hasNoCause();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void aLeaseThatWasLostBeforeRunsNothing() throws Exception {
    Lease lease = locks.acquire(REQUEST);
    locks.lose("stock", LossReason.EXPIRED);
    AtomicBoolean ran = new AtomicBoolean();

    assertThatThrownBy(() -> Locks.runHolding(lease, held -> ran.set(true)))
        .isInstanceOf(LockLostException.class);
    assertThat(ran).isFalse();
  }

  @Test
  void aLeaseThatWasReleasedBeforeRunsNothing() throws Exception {
    Lease lease = locks.acquire(REQUEST);
    assertThat(lease.release()).isTrue();
    AtomicBoolean ran = new AtomicBoolean();

    assertThatThrownBy(() -> Locks.runHolding(lease, held -> ran.set(true)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(ran).isFalse();
  }

  /** A rollback that follows must not be disturbed by the interrupt of executeLocked around it. */
  @Test
  void throwingTheLossClearsTheInterruptInsideExecuteLocked() {
    AtomicBoolean interruptedAtRollback = new AtomicBoolean();
    AtomicBoolean rolledBack = new AtomicBoolean();

    assertThatThrownBy(
            () ->
                locks.executeLocked(
                    REQUEST,
                    lease -> {
                      try {
                        Locks.runHolding(lease, held -> locks.lose("stock", LossReason.TAKEN));
                      } catch (LockLostException e) {
                        interruptedAtRollback.set(Thread.currentThread().isInterrupted());
                        rolledBack.set(true);
                        throw e;
                      }
                      return "committed";
                    }))
        .isInstanceOf(LockLostException.class);
    assertThat(rolledBack).isTrue();
    assertThat(interruptedAtRollback).isFalse();
  }

  @Test
  void executeLockedInterruptsItsTaskAfterAnInnerTaskThatEndedWell() {
    AtomicBoolean interrupted = new AtomicBoolean();

    assertThatThrownBy(
            () ->
                locks.runLocked(
                    REQUEST,
                    lease -> {
                      Locks.runHolding(lease, held -> assertThat(held.isHeld()).isTrue());
                      locks.lose("stock", LossReason.TAKEN);
                      interrupted.set(Thread.currentThread().isInterrupted());
                    }))
        .isInstanceOf(LockLostException.class);
    assertThat(interrupted).isTrue();
  }

  private void loseAfter(CountDownLatch begun) {
    try {
      begun.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    locks.lose("stock", LossReason.TAKEN);
  }
}
