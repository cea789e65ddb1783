package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ValidityTest {
  private static final Moment START = new Moment(5_000, 1_700_000_000_000_000L);
  private static final Validity VALIDITY =
      new Validity(Validity.DEFAULT_DRIFT, Duration.ofMillis(50));

  @Test
  @DisplayName("VAL-1: of a ttl of 10 s, 1 % and 2 ms are lost to drift, counted from the start")
  void driftIsDeductedFromTheTtl() {
    assertThat(START.nanosUntil(VALIDITY.until(START, Duration.ofSeconds(10))))
        .isEqualTo(Duration.ofMillis(9_898).toNanos());
  }

  @Test
  @DisplayName("VAL-1: part of a nanosecond of drift is deducted whole")
  void driftIsRoundedUp() {
    Validity third = new Validity(1.0 / 3, Duration.ofMillis(50));

    assertThat(third.until(START, Duration.ofMillis(10)).nanos() - START.nanos())
        .isEqualTo(10_000_000 - 3_333_334 - 2_000_000);
  }

  @Test
  @DisplayName("GUARD-1: others count with a lock for its ttl, 1 % and 2 ms")
  void othersCountWithALockForLonger() {
    assertThat(VALIDITY.outlived(Duration.ofSeconds(10))).isEqualTo(Duration.ofMillis(10_102));
  }

  @Test
  @DisplayName("VAL-6: a ttl is usable above, and not at, the node time-out and drift together")
  void aTtlThatLeavesNothingIsRefused() {
    Duration least = Duration.ofNanos(52_525_253); // 50 ms, 2 ms, and 1 % of itself

    assertThatCode(() -> VALIDITY.requireUsable(least.plusNanos(1))).doesNotThrowAnyException();
    assertThatThrownBy(() -> VALIDITY.requireUsable(least))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the ttl 52 ms is not above nodeTimeout and the allowance for drift, 52 ms together:"
                + " ask for more");
  }
}
