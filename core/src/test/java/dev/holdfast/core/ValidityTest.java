package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ValidityTest {
  private static final ClockReading START = new ClockReading(5_000, 1_700_000_000_000_000L);
  private static final Validity VALIDITY = new Validity(Validity.DEFAULT_DRIFT);

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @DisplayName("drift deducts 1 % and 2 ms from a ttl of 10 s, counted from the start")
  void driftIsDeductedFromTheTtl() {
    assertThat(START.nanosUntil(VALIDITY.until(START, Duration.ofSeconds(10))))
        .isEqualTo(Duration.ofMillis(9_898).toNanos());
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @DisplayName("part of a nanosecond of drift is deducted whole")
  void driftIsRoundedUp() {
    Validity third = new Validity(1.0 / 3);

    assertThat(third.until(START, Duration.ofMillis(10)).nanos() - START.nanos())
        .isEqualTo(10_000_000 - 3_333_334 - 2_000_000);
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("others treat a lock as held for its ttl, 1 % and 2 ms")
  void othersTreatTheLockAsHeldForLonger() {
    assertThat(VALIDITY.outlived(Duration.ofSeconds(10))).isEqualTo(Duration.ofMillis(10_102));
  }

  @Test
  @Rule("VAL-6")
  @DisplayName("a ttl is usable above, and not at, the allowance for drift alone")
  void ttlWithoutValidityIsRefused() {
    Duration least = Duration.ofNanos(2_020_204); // 2 ms, and 1 % of itself rounded up

    assertThatCode(() -> VALIDITY.requireUsable(least)).doesNotThrowAnyException();
    assertThatThrownBy(() -> VALIDITY.requireUsable(least.minusNanos(1)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage("the ttl 2 ms is not above the allowance for drift, 3 ms: ask for more");
  }
}
