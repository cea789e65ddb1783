package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClockReadingTest {
  private static final ClockReading START =
      new ClockReading(Long.MAX_VALUE - 10, 1_700_000_000_000_000L);

  @Test
  void elapsedTimeIsTheLargerOfBothClocks() {
    assertThat(new ClockReading(START.nanos() + 5000, START.wallMicros() + 2).nanosSince(START))
        .as("the monotonic clock, past the end of its numbers")
        .isEqualTo(5000);
    assertThat(new ClockReading(START.nanos() + 5000, START.wallMicros() + 7).nanosSince(START))
        .as("the wall clock")
        .isEqualTo(7000);
    assertThat(new ClockReading(START.nanos() + 5000, START.wallMicros() - 7).nanosSince(START))
        .as("a wall clock that was set back")
        .isEqualTo(5000);
  }

  @Test
  void remainingTimeIsTheSmallerOfBothClocks() {
    ClockReading end = START.plusNanos(10_000);
    assertThat(START.nanosUntil(end)).isEqualTo(10_000);
    assertThat(new ClockReading(START.nanos() + 1000, START.wallMicros() + 4).nanosUntil(end))
        .isEqualTo(6000);
    assertThat(new ClockReading(START.nanos() + 12_000, START.wallMicros()).nanosUntil(end))
        .isEqualTo(-2000);
  }

  @Test
  void earlierReadingIsTheMinimumOfEachClock() {
    ClockReading sooner = START.plusNanos(10_000); // past the end of its numbers
    ClockReading later = new ClockReading(sooner.nanos() + 1, sooner.wallMicros() - 1);
    ClockReading both = new ClockReading(sooner.nanos(), later.wallMicros());
    assertThat(sooner.earlier(later)).isEqualTo(both);
    assertThat(later.earlier(sooner)).isEqualTo(both);
    assertThat(START.earlier(sooner)).isEqualTo(START);
  }

  @Test
  void partsOfMicrosecondsAreRoundedToTheSafeSide() {
    assertThat(START.plusNanos(1999).wallMicros()).isEqualTo(START.wallMicros() + 1);
    assertThat(START.plusNanos(-1).wallMicros()).isEqualTo(START.wallMicros() - 1);
  }

  @Test
  void theSystemsClocksGoOnAtTheSamePace() {
    ClockReading before = Clock.system().now();
    ClockReading after = Clock.system().now();
    assertThat(after.nanos() - before.nanos()).isNotNegative();
    assertThat(Duration.ofNanos(before.wallMicros() * 1000))
        .isCloseTo(Duration.ofMillis(System.currentTimeMillis()), Duration.ofSeconds(5));
  }
}
