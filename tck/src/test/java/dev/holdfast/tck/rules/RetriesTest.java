package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tries of what a machine that stalls makes fail. */
class RetriesTest {
  private final AtomicInteger tries = new AtomicInteger();

  @Test
  void aSecondTryThatGoesWellIsEnough() {
    assertThatCode(() -> Retries.anyOf(() -> failFirst(new AssertionError("late"))))
        .doesNotThrowAnyException();
    assertThat(tries).hasValue(2);
  }

  @Test
  void aFailureThatLooksLikeAnotherRuleIsTriedAgain() {
    assertThatCode(
            () ->
                Retries.anyOf(
                    () -> {
                      if (tries.incrementAndGet() == 1) {
                        AnotherRule.isBroken("a lease was lost");
                      }
                    }))
        .doesNotThrowAnyException();
    assertThat(tries).hasValue(2);
  }

  @Test
  void theLastFailureIsThrown() {
    assertThatThrownBy(
            () ->
                Retries.anyOf(
                    () -> {
                      throw new AssertionError("try " + tries.incrementAndGet());
                    }))
        .hasMessage("try 3");
  }

  @Test
  void failuresBesideAStallAreNotCounted() {
    assertThatCode(() -> stalled(Duration.ofHours(1), () -> failUntil(10)))
        .doesNotThrowAnyException();
    assertThat(tries).hasValue(10);
  }

  @Test
  void failuresBesideStallsThatLastAreThrownInTheEnd() {
    assertThatThrownBy(() -> stalled(Duration.ZERO, () -> failUntil(10))).hasMessage("try 3");
  }

  @Test
  void aTryAfterAStallHasTwiceTheTimeUpToALimit() {
    List<Duration> times = new ArrayList<>();

    stalled(
        Duration.ofSeconds(1),
        time -> {
          times.add(time);
          failUntil(3);
        },
        Duration.ofHours(1));

    assertThat(times).extracting(Duration::toSeconds).containsExactly(1L, 2L, 2L);
  }

  @Test
  void anInterruptedThreadTriesNothingAnyMore() {
    assertThatThrownBy(
            () ->
                Retries.anyOf(
                    () -> {
                      Thread.currentThread().interrupt();
                      throw new AssertionError("try " + tries.incrementAndGet());
                    }))
        .hasMessage("try 1");
    assertThat(Thread.interrupted()).isTrue();
  }

  private static void stalled(Duration maxTime, Eventually.Assertions check) {
    stalled(Duration.ZERO, time -> check.run(), maxTime);
  }

  private static void stalled(Duration time, Retries.InTime check, Duration maxTime) {
    Retries.anyOf(time, check, () -> new Stalls(Duration.ofSeconds(1)), maxTime);
  }

  private void failUntil(int good) {
    if (tries.incrementAndGet() < good) {
      throw new AssertionError("try " + tries);
    }
  }

  private void failFirst(AssertionError failure) {
    if (tries.incrementAndGet() == 1) {
      throw failure;
    }
  }
}
