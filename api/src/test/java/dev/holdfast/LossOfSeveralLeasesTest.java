package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A task inside another one, both of which lose their leases. The thread has one interrupt. */
@Timeout(20)
@ExtendWith(NothingLeftBehind.class)
class LossOfSeveralLeasesTest {
  private static final LockRequest STOCK = LockRequest.of("stock", Duration.ofSeconds(10));
  private static final LockRequest THIRD = LockRequest.of("third", Duration.ofSeconds(10));
  private static final LockRequest ORDER = LockRequest.of("order", Duration.ofSeconds(10));

  private final InMemoryLocks locks = new InMemoryLocks();

  private void lose(String name) {
    locks.lose(name, LossReason.EXPIRED);
  }

  private static boolean isInterrupted() {
    return Thread.currentThread().isInterrupted();
  }

  private void assertThatStockIsLost(LockedAction<Exception> work) {
    assertThatThrownBy(() -> locks.runLocked(STOCK, work))
        .isInstanceOf(LockLostException.class)
        .hasMessageContaining("stock")
        .hasNoCause();
  }

  private void assertThatOrderIsLost(LockedAction<Exception> work) {
    assertThatThrownBy(() -> locks.runLocked(ORDER, work))
        .isInstanceOf(LockLostException.class)
        .hasMessageContaining("order");
  }

  /** Runs a task inside another one, which has to be interrupted when the inner one has ended. */
  private void assertThatBothAreLost(LockedAction<Exception> inner) {
    assertThatStockIsLost(
        stock -> {
          assertThatOrderIsLost(inner);
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  @Rule("ACQ-19")
  void theOuterTaskIsInterruptedAfterTheInnerOneHasEnded() {
    assertThatBothAreLost(
        order -> {
          lose("order");
          lose("stock");
          assertThat(isInterrupted()).isTrue();
        });
  }

  @Test
  void theOuterTaskIsInterruptedAlsoIfItsLossCameFirst() {
    assertThatBothAreLost(
        order -> {
          lose("stock");
          lose("order");
        });
  }

  @Test
  void theOuterTaskIsInterruptedAlsoIfTheInnerOneNoticedTheInterrupt() {
    assertThatBothAreLost(
        order -> {
          lose("order");
          assertThat(Thread.interrupted()).isTrue();
          lose("stock");
        });
    assertThatBothAreLost(
        order -> {
          lose("stock");
          lose("order");
          assertThat(Thread.interrupted()).isTrue();
          throw new InterruptedException();
        });
  }

  @Test
  void theOutermostTaskIsInterruptedOnceForEachInnerOneThatHidesItsLoss() {
    assertThatBothAreLost(
        order -> {
          assertThatThrownBy(
                  () ->
                      locks.runLocked(
                          THIRD,
                          lease -> {
                            lose("third");
                            lose("order");
                            lose("stock");
                          }))
              .hasMessageContaining("third");
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void anInterruptThatTheOuterTaskNoticedDoesNotComeAgain() {
    assertThatStockIsLost(
        stock -> {
          lose("stock");
          assertThat(Thread.interrupted()).isTrue();
          assertThatOrderIsLost(order -> lose("order"));
          assertThat(isInterrupted()).isFalse();
        });
  }

  @Test
  void anInterruptThatAnInnerTaskWithoutALossNoticedDoesNotComeAgain() {
    assertThatStockIsLost(
        stock -> {
          locks.runLocked(
              ORDER,
              order -> {
                lose("stock");
                assertThat(Thread.interrupted()).isTrue();
              });
          assertThat(isInterrupted()).isFalse();
        });
  }

  @Test
  void aShieldOfTheInnerTaskPostponesBothInterrupts() {
    assertThatBothAreLost(
        order -> {
          lose("order");
          lose("stock");
          Locks.InterruptShield shield = Locks.postponeInterrupts();
          assertThat(isInterrupted()).isFalse();
          shield.close();
          assertThat(isInterrupted()).isTrue();
        });
  }

  @Test
  void aShieldThatEndsWithTheInnerTaskLetsTheOuterOneBeInterrupted() {
    assertThatBothAreLost(
        order -> {
          Locks.postponeInterrupts();
          lose("order");
          lose("stock");
          assertThat(isInterrupted()).isFalse();
        });
  }

  /** The shield of the outer task is open, and the inner task began later. */
  @Test
  void anOuterTaskWithAShieldIsInterruptedWhenItIsClosed() {
    assertThatStockIsLost(
        stock -> {
          Locks.InterruptShield shield = Locks.postponeInterrupts();
          assertThatOrderIsLost(
              order -> {
                lose("order");
                lose("stock");
                assertThat(isInterrupted()).isTrue();
              });
          assertThat(isInterrupted()).isFalse();
          shield.close();
          assertThat(Thread.interrupted()).isTrue();
        });
  }

  @Test
  void anInterruptByOthersStandsForBothAndOutlastsThem() {
    assertThatStockIsLost(
        stock ->
            assertThatOrderIsLost(
                order -> {
                  Thread.currentThread().interrupt();
                  lose("order");
                  lose("stock");
                }));
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  @Rule("ACQ-19")
  void theOuterTaskIsInterruptedAlsoIfTheInnerOneHasBegunAThirdAfterItsInterrupt() {
    assertThatBothAreLost(
        order -> {
          lose("order");
          lose("stock");
          assertThat(Thread.interrupted()).isTrue();
          locks.runLocked(THIRD, third -> {});
        });
  }
}
