package dev.holdfast.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static final CompareCells CELLS = CompareCells.unavailable(Duration.ofSeconds(2));

  private final AtomicInteger attempts = new AtomicInteger();

  @Test
  void failedMeasurementIsRepeatedOnce() throws Exception {
    CompareCells cells =
        Comparison.measuredInTwo(
            () -> {
              if (attempts.incrementAndGet() == 1) {
                throw Comparison.notMeasured("the machine stood still");
              }
              return CELLS;
            });

    assertThat(cells).isEqualTo(CELLS);
    assertThat(attempts).hasValue(2);
  }

  @Test
  void secondFailedMeasurementIsAnOutage() {
    assertThatThrownBy(
            () ->
                Comparison.measuredInTwo(
                    () -> {
                      throw Comparison.notMeasured("try " + attempts.incrementAndGet());
                    }))
        .isInstanceOf(LockOutageException.class)
        .hasMessageContaining("not measured, run it again: try 2");
  }

  @Test
  void unavailableLockIsNotMeasured() throws Exception {
    try (LockManager locks = LockManager.open("memory:")) {
      locks.acquire("a", Duration.ofMinutes(1));

      assertThatThrownBy(
              () ->
                  Comparison.measuredInTwo(
                      () -> {
                        attempts.incrementAndGet();
                        locks.acquire(
                            LockRequest.of("a", Duration.ofSeconds(1)).waitAtMost(Duration.ZERO));
                        return CELLS;
                      }))
          .isInstanceOf(LockOutageException.class)
          .hasMessageContaining("not measured, run it again: ");
      assertThat(attempts).hasValue(2);
    }
  }
}
