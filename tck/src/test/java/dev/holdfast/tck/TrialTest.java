package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A test that has taken too long is interrupted, and must not spoil those that come after it. */
class TrialTest {
  private final MemoryEnvironment environment = new MemoryEnvironment();
  private final Trial trial = new Trial(environment, Set.of());

  @AfterEach
  void close() {
    Thread.interrupted();
    environment.close();
  }

  @Test
  void nothingIsOpenedOrBegunAfterItsEnd() {
    trial.close();

    assertThatThrownBy(trial::open).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> trial.begin(TckFault.FROZEN, trial.nodes(), ""))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatWasAskedForLastIsDoneFirst() {
    StringBuilder done = new StringBuilder();
    trial.atEnd(() -> done.append("first"));
    trial.atEnd(() -> done.append("last, "));

    trial.close();

    assertThat(done).hasToString("last, first");
  }

  @Test
  void aTaskThatFailsAtTheEndFailsNoTestAndStopsNoOther() {
    AtomicInteger done = new AtomicInteger();
    trial.atEnd(done::incrementAndGet);
    trial.atEnd(
        () -> {
          throw new IllegalStateException("it does not close");
        });

    trial.close();

    assertThat(done).hasValue(1);
  }

  @Test
  void whateverIsRegardlessKeepsAnInterrupt() {
    Trial.regardless(
        () -> {
          throw new InterruptedException();
        });

    assertThat(Thread.currentThread().isInterrupted()).isTrue();
  }

  @Test
  void whoeverIsInterruptedTriesNothingAnyMore() {
    for (Eventually.Assertions once :
        List.<Eventually.Assertions>of(
            () -> {
              throw new InterruptedException();
            },
            () -> {
              Thread.currentThread().interrupt();
              trial.soon().until("it never is", () -> false);
            },
            () ->
                trial
                    .soon()
                    .until(
                        "it is thrown",
                        () -> {
                          throw new InterruptedException();
                        }))) {
      AtomicInteger tries = new AtomicInteger();

      assertThatThrownBy(
              () ->
                  Tries.anyOf(
                      () -> {
                        tries.incrementAndGet();
                        once.run();
                      }))
          .isInstanceOf(AssertionError.class);

      assertThat(tries).hasValue(1);
      assertThat(Thread.interrupted()).as("the flag").isTrue();
    }
  }
}
