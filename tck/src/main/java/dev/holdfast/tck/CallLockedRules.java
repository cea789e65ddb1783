package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A task is run under a lock. */
abstract class CallLockedRules {
  final Trial trial;

  CallLockedRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked gives back what the task returns, and releases")
  void callLockedReturnsWhatTheTaskReturnsAndReleases() throws InterruptedException {
    List<Lease> used = new ArrayList<>();
    AtomicBoolean held = new AtomicBoolean();

    String result =
        trial
            .open()
            .callLocked(
                LockRequest.of(trial.name("task"), trial.ttl()),
                lease -> {
                  used.add(lease);
                  held.set(lease.isHeld());
                  return "done";
                });

    assertThat(result).isEqualTo("done");
    assertThat(held).as("it was held in the task").isTrue();
    assertThat(used.get(0).isHeld()).as("it is held after the task").isFalse();
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked throws what the task throws, and releases")
  void callLockedThrowsWhatTheTaskThrowsAndReleases() {
    List<Lease> used = new ArrayList<>();
    Exception failure = new Exception("of the task");
    LockManager locks = trial.open();

    Throwable thrown =
        catchThrowable(
            () ->
                locks.callLocked(
                    LockRequest.of(trial.name("task"), trial.ttl()),
                    lease -> {
                      used.add(lease);
                      throw failure;
                    }));

    assertThat(thrown).isSameAs(failure);
    assertThat(used.get(0).isHeld()).as("it is held after the task").isFalse();
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked interrupts the task's thread when lost() completes")
  void callLockedInterruptsTheTaskOfALostLeaseAndSaysSo() {
    AtomicBoolean interrupted = new AtomicBoolean();
    LockManager locks = trial.openForShortTtl();
    String name = trial.name("task");

    Throwable thrown =
        catchThrowable(
            () ->
                locks.callLocked(
                    LockRequest.of(name, trial.briefTtl()),
                    lease -> {
                      try {
                        new CountDownLatch(1)
                            .await(trial.timing().soon().toNanos(), TimeUnit.NANOSECONDS);
                      } catch (InterruptedException e) {
                        interrupted.set(true);
                      }
                      return "over";
                    }));

    assertThat(interrupted).as("the task was interrupted").isTrue();
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(Thread.currentThread().isInterrupted()).as("so is its caller").isFalse();
  }

  @Test
  @Rule("LOSS-8")
  @IfThisFails("check that the interrupt is not sent by the thread that calls users back")
  void callLockedInterruptsTheTaskThoughCallbacksOfItsLossBlock() {
    AtomicBoolean interrupted = new AtomicBoolean();
    CountDownLatch called = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    trial.atEnd(end::countDown);

    Throwable thrown =
        catchThrowable(
            () ->
                trial
                    .openForShortTtl()
                    .callLocked(
                        LockRequest.of(trial.name("task"), trial.briefTtl()),
                        lease -> {
                          for (int i = 0; i < 3; i++) {
                            lease.lost().thenRun(() -> block(called, end));
                          }
                          try {
                            new CountDownLatch(1)
                                .await(trial.timing().soon().toNanos(), TimeUnit.NANOSECONDS);
                          } catch (InterruptedException e) {
                            interrupted.set(true);
                          }
                          return "over";
                        }));

    trial.awaitRegardless("a callback is called", () -> called.getCount() == 0);
    if (called.getCount() > 0 || !(thrown instanceof LockLostException)) {
      abort("the loss is not told, which is another rule's");
    }
    assertThat(interrupted).as("the task was interrupted").isTrue();
  }

  private static void block(CountDownLatch called, CountDownLatch end) {
    called.countDown();
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that callLocked looks at the lease when the task has thrown something, too")
  void callLockedSaysThatTheLeaseWasLostWhateverTheTaskThrows() {
    LockManager locks = trial.openForShortTtl();
    IllegalStateException failure = new IllegalStateException("of the task");

    LockLostException lost =
        catchThrowableOfType(
            LockLostException.class,
            () ->
                locks.callLocked(
                    LockRequest.of(trial.name("task"), trial.briefTtl()),
                    lease -> {
                      awaitLossUninterrupted(lease);
                      throw failure;
                    }));

    assertThat(lost).hasCause(failure);
  }

  /** Ends after the lease, whoever interrupts it. */
  private void awaitLossUninterrupted(Lease lease) {
    long limit = System.nanoTime() + trial.timing().soon().toNanos();
    while (lease.isHeld() && System.nanoTime() - limit < 0) {
      Thread.interrupted();
      LockSupport.parkNanos(1_000_000);
    }
  }
}
