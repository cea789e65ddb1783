package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GuardianTimesTest {
  @ParameterizedTest
  @CsvSource({
    "30000, 5000, 5000, 500",
    "16500, 5000, 5000, 500",
    "6000, 5000, 1500, 500",
    "3000, 5000, 700, 300",
    "30000, 0, 0, 500"
  })
  void theEndOfARenewedLockBeginsInTheLastThirdOfItsTtl(
      long ttl, long grace, long lead, long margin) {
    GuardianTimes times = GuardianTimes.renewed(Duration.ofMillis(ttl), Duration.ofMillis(grace));

    assertThat(times.arguments())
        .containsExactly(Long.toString(grace), Long.toString(lead), Long.toString(margin));
  }

  @Test
  void theEndOfABoundedLockBeginsAWholeGraceBefore() {
    GuardianTimes times = GuardianTimes.bounded(Duration.ofSeconds(6), Duration.ofSeconds(5));

    assertThat(times.arguments()).containsExactly("5000", "5000", "500");
  }

  @ParameterizedTest
  @CsvSource({"60000, 1000", "3000, 100"})
  void validityIsSentOften(long ttl, long period) {
    assertThat(GuardianTimes.renewed(Duration.ofMillis(ttl), Duration.ZERO).period())
        .isEqualTo(Duration.ofMillis(period));
  }

  @ParameterizedTest
  @CsvSource({"'12345.67 99.10\n', 12345670", "'0.05 0.00\n', 50"})
  void theClockOfLinuxShowsHundredthsOfASecond(String text, long millis) {
    assertThat(Uptime.parse(text)).isEqualTo(millis);
  }
}
