package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.testsupport.Fakes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** An assertion that fails in a task whose lease is lost is the cause of what the task throws. */
@Timeout(20)
@ExtendWith(NothingLeftBehind.class)
class CurrentLeaseTest {
  private static final LockRequest STOCK = LockRequest.of("stock", Duration.ofSeconds(10));
  private static final LockRequest ORDER = LockRequest.of("order", Duration.ofSeconds(10));

  private final InMemoryLocks locks = new InMemoryLocks();

  @Test
  void noLeaseIsCurrentOutsideATask() throws Exception {
    try (Lease lease = locks.acquire(STOCK)) {
      assertThat(lease.isHeld()).isTrue();
      assertThat(Locks.current()).isEmpty();
    }
  }

  @Test
  void eachMethodThatRunsATaskBindsItsLease() throws Exception {
    locks.runLocked(STOCK, lease -> assertThat(Locks.current()).containsSame(lease));
    assertThat(locks.tryRunLocked(STOCK, l -> assertThat(Locks.current()).containsSame(l)))
        .isTrue();
    try (Lease held = locks.acquire(STOCK)) {
      Locks.runHolding(held, lease -> assertThat(Locks.current()).containsSame(held));
    }
  }

  @Test
  void failedTaskUnbindsItsLease() {
    assertThatThrownBy(
            () ->
                locks.runLocked(
                    STOCK,
                    lease -> {
                      throw new IllegalStateException("half done");
                    }))
        .hasMessage("half done");
    assertThat(Locks.current()).isEmpty();
  }

  @Test
  void innermostLeaseIsCurrentAndOuterLeasesAreFoundByName() throws Exception {
    locks.runLocked(
        STOCK,
        stock -> {
          locks.runLocked(
              ORDER,
              order -> {
                assertThat(Locks.current()).containsSame(order);
                assertThat(Locks.requireCurrent("stock")).isSameAs(stock);
                assertThat(Locks.requireCurrent("order")).isSameAs(order);
              });
          assertThat(Locks.current()).containsSame(stock);
        });
  }

  private void assertThatStockIsLost(LockedAction<Exception> work) {
    assertThatThrownBy(() -> locks.runLocked(STOCK, work))
        .isInstanceOf(LockLostException.class)
        .hasNoCause();
  }

  @Test
  void innermostOfTwoLeasesOfOneNameIsFound() throws Exception {
    assertThatThrownBy(
            () ->
                locks.runLocked(
                    STOCK,
                    outer -> {
                      locks.lose("stock", LossReason.EXPIRED);
                      assertThat(Thread.interrupted()).isTrue();
                      locks.runLocked(
                          STOCK,
                          inner -> assertThat(Locks.requireCurrent("stock")).isSameAs(inner));
                      assertThatThrownBy(() -> Locks.requireCurrent("stock"))
                          .isInstanceOf(LockLostException.class)
                          .hasNoCause();
                    }))
        .isInstanceOf(LockLostException.class)
        .hasNoCause();
  }

  @Test
  void aTaskThatPostponesInterruptsIsNotInterruptedByALoss() {
    assertThatStockIsLost(
        lease -> {
          Locks.postponeInterrupts();
          locks.lose("stock", LossReason.EXPIRED);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @Test
  void postponingInterruptsClearsTheInterruptOfAnEarlierLoss() {
    assertThatStockIsLost(
        lease -> {
          locks.lose("stock", LossReason.EXPIRED);
          assertThat(Thread.currentThread().isInterrupted()).isTrue();
          Locks.postponeInterrupts();
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
  }

  @Test
  void interruptsArePostponedUntilTheInnermostTaskHasEnded() {
    assertThatStockIsLost(
        stock -> {
          locks.runLocked(ORDER, order -> Locks.postponeInterrupts());
          locks.lose("stock", LossReason.EXPIRED);
          assertThat(Thread.interrupted()).isTrue();
        });
    Locks.postponeInterrupts(); // outside of tasks nothing happens
  }

  @Test
  void lossOfTheOuterTaskInterruptsAfterTheShieldedTask() {
    assertThatStockIsLost(
        stock -> {
          locks.runLocked(
              ORDER,
              order -> {
                Locks.postponeInterrupts();
                Locks.postponeInterrupts(); // once more changes nothing
                locks.lose("stock", LossReason.EXPIRED);
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
              });
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void earlierInterruptOfTheOuterTaskIsPostponedAndDeliveredOnce() {
    assertThatStockIsLost(
        stock -> {
          Lease order = locks.acquire(ORDER);
          Lease third = locks.acquire(LockRequest.of("third", Duration.ofSeconds(10)));
          locks.lose("stock", LossReason.EXPIRED);
          Locks.runHolding(
              order,
              held -> {
                Locks.postponeInterrupts();
                Locks.runHolding(third, inner -> Locks.postponeInterrupts());
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
              });
          assertThat(Thread.interrupted()).isTrue();
          Locks.runHolding(order, held -> Locks.postponeInterrupts());
          assertThat(Thread.interrupted()).as("a second time").isFalse();
        });
  }

  @Test
  void aJoinedTaskThatPostponesInterruptsIsNotInterruptedByTheLossOfTheSharedLease() {
    assertThatStockIsLost(
        stock -> {
          assertThatThrownBy(
                  () ->
                      Locks.runHolding(
                          stock,
                          joined -> {
                            Locks.postponeInterrupts();
                            locks.lose("stock", LossReason.EXPIRED);
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                          }))
              .isInstanceOf(LockLostException.class)
              .hasNoCause();
          assertThat(Thread.interrupted()).as("the loss was thrown").isFalse();
        });
  }

  @Test
  void unrelatedInterruptSurvivesTheShield() throws Exception {
    locks.runLocked(
        STOCK,
        stock -> {
          try (Lease order = locks.acquire(ORDER)) {
            Thread.currentThread().interrupt();
            Locks.runHolding(order, held -> Locks.postponeInterrupts());
          }
        });
    assertThat(Thread.interrupted()).as("without a loss").isTrue();

    assertThatStockIsLost(
        stock -> {
          Lease order = locks.acquire(ORDER);
          Locks.runHolding(
              order,
              held -> {
                Locks.postponeInterrupts();
                locks.lose("stock", LossReason.EXPIRED);
                Thread.currentThread().interrupt();
              });
        });
    assertThat(Thread.interrupted()).as("beside a postponed one").isTrue();
  }

  @Test
  void unrelatedInterruptBeforeALossSurvivesTheTask() {
    assertThatStockIsLost(
        stock -> {
          Thread.currentThread().interrupt();
          locks.lose("stock", LossReason.EXPIRED);
        });
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void postponedInterruptIsDeliveredWhenTheLastShieldCloses() {
    assertThatStockIsLost(
        stock -> {
          Locks.InterruptShield first = Locks.postponeInterrupts();
          Locks.InterruptShield second = Locks.postponeInterrupts();
          locks.lose("stock", LossReason.EXPIRED);
          first.close();
          first.close(); // once more changes nothing
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          second.close();
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void lossAfterAShieldInterrupts() {
    assertThatStockIsLost(
        stock -> {
          Locks.postponeInterrupts().close();
          locks.lose("stock", LossReason.EXPIRED);
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void aShieldThatIsClosedAfterItsTaskOrOnAnotherThreadChangesNothing() {
    assertThatStockIsLost(
        stock -> {
          List<Locks.InterruptShield> ofTheInnerTask = new ArrayList<>();
          locks.runLocked(ORDER, order -> ofTheInnerTask.add(Locks.postponeInterrupts()));
          Locks.InterruptShield shield = Locks.postponeInterrupts();
          ofTheInnerTask.get(0).close();
          Thread other = new Thread(shield::close);
          other.start();
          other.join();
          locks.lose("stock", LossReason.EXPIRED);
          assertThat(Thread.currentThread().isInterrupted()).isFalse();
          shield.close();
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void aTaskThatBeginsInsideAShieldIsInterruptedByItsOwnLoss() {
    assertThatStockIsLost(
        stock -> {
          Locks.InterruptShield shield = Locks.postponeInterrupts();
          assertThatThrownBy(
                  () ->
                      locks.runLocked(
                          ORDER,
                          order -> {
                            locks.lose("stock", LossReason.EXPIRED);
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                            locks.lose("order", LossReason.EXPIRED);
                            assertThat(Thread.interrupted()).isTrue();
                          }))
              .isInstanceOf(LockLostException.class)
              .hasNoCause();
          shield.close();
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void noLossIsFoundWhileEachLeaseIsHeldOrReleased() throws Exception {
    Locks.requireNoneLost(); // outside of tasks nothing happens
    locks.runLocked(
        STOCK,
        stock -> {
          locks.runLocked(
              ORDER,
              order -> {
                Locks.requireNoneLost();
                order.close();
                Locks.requireNoneLost();
              });
          Locks.requireNoneLost();
        });
  }

  @Test
  void lossOfAnOuterTaskIsFoundBehindAnInnerLease() {
    assertThatStockIsLost(
        stock ->
            locks.runLocked(
                ORDER,
                order -> {
                  locks.lose("stock", LossReason.EXPIRED);
                  assertThat(Thread.interrupted()).isTrue();
                  assertThatThrownBy(Locks::requireNoneLost)
                      .isInstanceOf(LockLostException.class)
                      .hasMessageContaining("stock");
                }));
  }

  @Test
  void nameWithoutACurrentLeaseIsRefused() throws Exception {
    assertThatThrownBy(() -> Locks.requireCurrent("stock"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "this thread does not work under the lock 'stock': call this method from the task of"
                + " executeLocked, on the same thread");
    locks.runLocked(
        ORDER,
        lease ->
            assertThatThrownBy(() -> Locks.requireCurrent("stock"))
                .isInstanceOf(IllegalStateException.class));
  }

  @Test
  void aLeaseThatWasReleasedInTheTaskIsRefused() throws Exception {
    locks.runLocked(
        STOCK,
        lease -> {
          assertThat(lease.release()).isTrue();
          assertThat(Locks.current()).containsSame(lease);
          assertThatThrownBy(() -> Locks.requireCurrent("stock"))
              .isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void leasesOfOneNameAreDistinguishedByManager() throws Exception {
    InMemoryLocks others = new InMemoryLocks();
    locks.runLocked(
        STOCK,
        ours ->
            others.runLocked(
                STOCK,
                theirs -> {
                  assertThat(Locks.requireCurrent("stock")).isSameAs(theirs);
                  assertThat(Locks.requireCurrent(locks, "stock")).isSameAs(ours);
                  assertThat(Locks.requireCurrent(others, "stock")).isSameAs(theirs);
                  assertThatThrownBy(() -> Locks.requireCurrent(new InMemoryLocks(), "stock"))
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("'stock' of this manager: call this method");
                }));
  }

  @Test
  void aLeaseThatWasBoundWithoutItsManagerIsNotFoundByManager() throws Exception {
    try (Lease held = locks.acquire(STOCK)) {
      Locks.runHolding(
          held,
          lease -> {
            assertThat(Locks.requireCurrent("stock")).isSameAs(held);
            assertThatThrownBy(() -> Locks.requireCurrent(locks, "stock"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("give it to Locks.executeHolding, too");
          });
      assertThat(
              Locks.<Lease, RuntimeException>executeHolding(
                  locks, held, lease -> Locks.requireCurrent(locks, "stock")))
          .isSameAs(held);
    }
  }

  @Test
  void aDecoratorThatPassesUnwrapOnIsTheManagerThatItDecorates() throws Exception {
    LockManager decorator =
        Fakes.of(
            LockManager.class,
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("unwrap");
              return Optional.of(locks);
            });

    locks.runLocked(
        STOCK, lease -> assertThat(Locks.requireCurrent(decorator, "stock")).isSameAs(lease));
  }

  @Test
  void otherThreadsHaveNoCurrentLease() throws Exception {
    try (Threads threads = new Threads(Executors.newSingleThreadExecutor())) {
      locks.runLocked(
          STOCK,
          lease -> {
            assertThat(threads.call(Locks::current)).isEmpty();
            for (Callable<Lease> requiring :
                List.<Callable<Lease>>of(
                    () -> Locks.requireCurrent("stock"),
                    () -> Locks.requireCurrent(locks, "stock"))) {
              assertThat(threads.call(() -> catchThrowable(requiring::call)))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("this thread does not work under the lock 'stock'");
            }
          });
    }
  }

  @Test
  void virtualThreadsInheritNoCurrentLease() throws Exception {
    ExecutorService virtual = virtualThreads();
    try (Threads threads = new Threads(virtual)) {
      locks.runLocked(
          STOCK,
          stock -> {
            assertThat(threads.call(Locks::current)).isEmpty();
            assertThat(
                    threads.call(
                        () ->
                            locks.<Boolean, RuntimeException>executeLocked(
                                ORDER,
                                order -> {
                                  LockSupport.parkNanos(1); // may go on with another carrier
                                  return Locks.current().orElseThrow() == order;
                                })))
                .isTrue();
            assertThat(Locks.current()).containsSame(stock);
          });
    }
  }

  private static ExecutorService virtualThreads() throws Exception {
    assumeTrue(Runtime.version().feature() >= 21, "before JDK 21");
    return (ExecutorService)
        Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }

  private record Threads(ExecutorService executor) implements AutoCloseable {
    <T> T call(Callable<T> task) throws InterruptedException {
      try {
        return executor.submit(task).get();
      } catch (ExecutionException e) {
        throw new AssertionError(e.getCause());
      }
    }

    @Override
    public void close() {
      executor.shutdownNow();
    }
  }
}
