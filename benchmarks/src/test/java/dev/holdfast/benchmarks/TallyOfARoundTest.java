package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class TallyOfARoundTest {
  /** Three digits are kept. */
  private static final Offset<Double> DIGITS = within(0.1);

  private final Tally tally = new Tally();

  @Test
  void percentilesAreOfAllThreads() {
    tally.add(micros(1, 50));
    tally.add(micros(51, 100));

    assertThat(tally.count()).isEqualTo(100);
    assertThat(tally.micros(50)).isCloseTo(50, DIGITS);
    assertThat(tally.micros(99)).isCloseTo(99, DIGITS);
    assertThat(tally.longestMillis()).isCloseTo(0.1, within(1e-4));
  }

  @Test
  void aRateIsOfTheTimeInWhichWasCounted() {
    tally.add(micros(1, 100));
    tally.took(TimeUnit.MILLISECONDS.toNanos(200));
    tally.add(micros(1, 100));
    tally.took(TimeUnit.MILLISECONDS.toNanos(300));

    assertThat(tally.perSecond()).isCloseTo(400, DIGITS);
  }

  @Test
  void aFailureIsNoGrantButIsCounted() {
    Tally.Own own = micros(1, 10);
    own.failed();
    tally.add(own);
    tally.sent(50);

    assertThat(tally.failures()).isEqualTo(1);
    assertThat(tally.commandsEach()).isCloseTo(5, DIGITS);
  }

  @Test
  void theIdealIsALineInWhichEachWaitsForAHoldAndARoundTrip() {
    Tally.Own own = new Tally.Own();
    own.held(TimeUnit.MICROSECONDS.toNanos(1_100));
    tally.add(own);
    tally.roundTrip(TimeUnit.MICROSECONDS.toNanos(100));

    assertThat(tally.idealMillis(16)).isCloseTo(16 * 1.2, DIGITS);
  }

  @Test
  void theTimesOfAnotherProcessAreTheSameHere() throws Exception {
    tally.add(micros(1, 100));
    Tally here = new Tally();

    here.add(Tally.Own.decoded(ByteBuffer.wrap(tally.encodedTimes()), 3));

    assertThat(here.count()).isEqualTo(100);
    assertThat(here.micros(50)).isEqualTo(tally.micros(50));
    assertThat(here.failures()).isEqualTo(3);
  }

  private static Tally.Own micros(int first, int last) {
    Tally.Own own = new Tally.Own();
    for (int i = first; i <= last; i++) {
      own.took(TimeUnit.MICROSECONDS.toNanos(i));
    }
    return own;
  }
}
