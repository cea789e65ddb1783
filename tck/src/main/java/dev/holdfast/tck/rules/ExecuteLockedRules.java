package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A task is run under a lock. */
public abstract class ExecuteLockedRules {
  final TckFixture fixture;

  public ExecuteLockedRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that executeLocked returns the result of the task, and releases")
  void executeLockedReturnsTheResultOfTheTaskAndReleases() throws InterruptedException {
    List<Lease> used = new ArrayList<>();
    AtomicBoolean held = new AtomicBoolean();

    String result =
        fixture
            .open()
            .executeLocked(
                LockRequest.of(fixture.name("task"), fixture.ttl()),
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
  @IfThisFails("check that executeLocked throws what the task throws, and releases")
  void executeLockedThrowsTheExceptionOfTheTaskAndReleases() {
    LockManager locks = fixture.open();
    for (FailingTask task : FailingTask.all()) {
      Throwable thrown =
          catchThrowable(
              () -> locks.executeLocked(LockRequest.of(fixture.name("task"), fixture.ttl()), task));

      assertThat(thrown).isSameAs(task.failure());
      assertThat(task.leases().get(0).isHeld()).as("held after %s", task).isFalse();
    }
  }

  @Test
  @Rule("ACQ-13")
  @IfThisFails("check that executeLocked interrupts the task's thread when onLoss() completes")
  void executeLockedInterruptsTheTaskOfALostLeaseAndSaysSo() {
    Retries.anyOf(
        () -> {
          AtomicBoolean interrupted = new AtomicBoolean();
          LockManager locks = fixture.openForShortTtl();
          String name = fixture.name("task");

          Throwable thrown =
              catchThrowable(
                  () ->
                      locks.executeLocked(
                          LockRequest.of(name, fixture.briefTtl()),
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
  @Rule("LOSS-8")
  @IfThisFails("check that the interrupt is not sent by the thread that calls users back")
  void executeLockedInterruptsTheTaskThoughCallbacksOfItsLossBlock() {
    Retries.anyOf(
        () -> {
          AtomicBoolean interrupted = new AtomicBoolean();
          CountDownLatch called = new CountDownLatch(1);
          CountDownLatch end = new CountDownLatch(1);
          fixture.atEnd(end::countDown);

          Throwable thrown =
              catchThrowable(
                  () ->
                      fixture
                          .openForShortTtl()
                          .executeLocked(
                              LockRequest.of(fixture.name("task"), fixture.briefTtl()),
                              lease -> {
                                for (int i = 0; i < 3; i++) {
                                  lease.onLoss().thenRun(() -> block(called, end));
                                }
                                interrupted.set(fixture.soon().endsByInterrupt());
                                return "over";
                              }));

          fixture.awaitRegardless("a callback is called", () -> called.getCount() == 0);
          if (called.getCount() > 0 || !(thrown instanceof LockLostException)) {
            AnotherRule.isBroken("the loss is not reported");
          }
          assertThat(interrupted).as("the task was interrupted").isTrue();
        });
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
  @IfThisFails(
      "check that executeLocked looks at the lease when the task has thrown something, too")
  void executeLockedSaysThatTheLeaseWasLostWhateverTheTaskThrows() {
    Retries.anyOf(
        () -> {
          LockManager locks = fixture.openForShortTtl();
          IllegalStateException failure = new IllegalStateException("of the task");

          LockLostException lost =
              catchThrowableOfType(
                  LockLostException.class,
                  () ->
                      locks.executeLocked(
                          LockRequest.of(fixture.name("task"), fixture.briefTtl()),
                          lease -> {
                            Interrupted.awaitOver(fixture, lease);
                            throw failure;
                          }));

          assertThat(lost).hasCause(failure);
        });
  }
}
