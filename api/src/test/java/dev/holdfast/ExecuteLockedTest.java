package dev.holdfast;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Timeout(20)
@ExtendWith(NothingLeftBehind.class)
class ExecuteLockedTest {
  private static final LockRequest REQUEST = LockRequest.of("stock", Duration.ofSeconds(10));

  private final InMemoryLocks locks = new InMemoryLocks();

  @AfterEach
  void theLockIsFree() {
    assertThat(locks.isHeld("stock")).isFalse();
  }

  private AbstractThrowableAssert<?, ?> assertThatTheTaskThrows(
      LockedTask<Object, Exception> task) {
    return assertThatThrownBy(() -> locks.executeLocked(REQUEST, task));
  }

  @Test
  void theTaskRunsUnderTheLockAndItsResultIsReturned() throws Exception {
    String result =
        locks.executeLocked(
            REQUEST,
            lease -> {
              assertThat(lease.isHeld()).isTrue();
              return "result of " + lease.name();
            });

    assertThat(result).isEqualTo("result of stock");
  }

  @Test
  void exceptionOfTheTaskIsThrownUnchanged() {
    IOException thrown = new IOException("disk full");

    assertThatTheTaskThrows(
            lease -> {
              throw thrown;
            })
        .isSameAs(thrown);
  }

  @Test
  void aLossInterruptsTheTaskAndIsThrownWithWhatTheTaskThrew() {
    CountDownLatch inTask = new CountDownLatch(1);
    Thread thief =
        new Thread(
            () -> {
              try {
                inTask.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              locks.lose("stock", LossReason.TAKEN);
            });
    thief.start();

    assertThatTheTaskThrows(
            lease -> {
              inTask.countDown();
              return new CountDownLatch(1).await(1, TimeUnit.DAYS);
            })
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN))
        .hasCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void aLossIsThrownWhateverTheTaskReturned() {
    assertThatTheTaskThrows(
            lease -> {
              locks.lose("stock", LossReason.EXPIRED);
              return "too late";
            })
        .isInstanceOf(LockLostException.class)
        .hasNoCause();
  }

  @Test
  void unseenInterruptForALossIsCleared() {
    assertThatTheTaskThrows(
            lease -> {
              locks.lose("stock", LossReason.EXPIRED);
              assertThat(Thread.currentThread().isInterrupted()).isTrue();
              return "did not look";
            })
        .isInstanceOf(LockLostException.class);

    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void interruptForALossIsClearedWhenTheTaskThrowsSomethingElse() {
    IllegalStateException thrown = new IllegalStateException("half done");

    assertThatTheTaskThrows(
            lease -> {
              locks.lose("stock", LossReason.EXPIRED);
              throw thrown;
            })
        .isInstanceOf(LockLostException.class)
        .hasCause(thrown);

    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void lossAfterTheTaskInterruptsNoThread() throws Exception {
    AtomicReference<Lease> used = new AtomicReference<>();
    locks.executeLocked(
        REQUEST,
        lease -> {
          used.set(lease);
          return "done";
        });

    requireNonNull(used.get()).onLoss().complete(LossReason.EXPIRED);

    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void lossThatTheTaskThrowsIsNotThrownTwice() {
    AtomicReference<LockLostException> found = new AtomicReference<>();

    assertThatTheTaskThrows(
            lease -> {
              locks.lose("stock", LossReason.REMOVED);
              try {
                lease.requireHeld();
              } catch (LockLostException lost) {
                found.set(lost);
                throw lost;
              }
              return "not reached";
            })
        .isInstanceOfSatisfying(
            LockLostException.class,
            lost -> {
              assertThat(lost.reason()).isEqualTo(LossReason.REMOVED);
              assertThat(lost == found.get() || lost.getCause() == found.get()).isTrue();
            });
  }

  @Test
  void externalInterruptIsKept() throws Exception {
    String result =
        locks.executeLocked(
            REQUEST,
            lease -> {
              Thread.currentThread().interrupt();
              return "done anyway";
            });

    assertThat(result).isEqualTo("done anyway");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void externalInterruptIsNotALoss() {
    assertThatTheTaskThrows(
            lease -> {
              throw new InterruptedException("from outside");
            })
        .isInstanceOf(InterruptedException.class)
        .hasMessage("from outside");
  }

  @Test
  void aTaskMayReleaseTheLockItself() throws Exception {
    String result =
        locks.executeLocked(
            REQUEST,
            lease -> {
              assertThat(lease.release()).isTrue();
              return "done early";
            });

    assertThat(result).isEqualTo("done early");
  }

  @Test
  void exceptionOfTheTaskAfterItsReleaseIsThrownUnchanged() {
    IOException thrown = new IOException("disk full");

    assertThatTheTaskThrows(
            lease -> {
              assertThat(lease.release()).isTrue();
              throw thrown;
            })
        .isSameAs(thrown);
  }

  @Test
  void withoutTheLockTheTaskIsNotRun() throws Exception {
    Lease holder = locks.acquire(REQUEST);

    assertThatThrownBy(
            () ->
                locks.executeLocked(
                    REQUEST.waitAtMost(Duration.ZERO),
                    lease -> {
                      throw new AssertionError("ran without the lock");
                    }))
        .isInstanceOf(LockContendedException.class);
    holder.close();
  }
}
