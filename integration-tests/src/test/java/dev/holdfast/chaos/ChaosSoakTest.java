package dev.holdfast.chaos;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The longer proof: minutes of chaos for each driver, on three nodes and on five. */
class ChaosSoakTest {
  static final String MINUTES = "holdfast.chaos.minutes";
  private static final int DEFAULT_MINUTES = 5;

  static List<Arguments> settings() {
    return Chaos.DRIVERS.stream()
        .flatMap(driver -> List.of(3, 5).stream().map(nodes -> Arguments.of(driver, nodes)))
        .toList();
  }

  @ParameterizedTest(name = "{0}, {1} nodes")
  @MethodSource("settings")
  @Tag("soak")
  @Timeout(value = 24, unit = TimeUnit.HOURS)
  @DisplayName("minutes of chaos break no promise")
  void minutesOfChaosBreakNoPromise(String driver, int nodes) throws Exception {
    Duration length = Duration.ofMinutes(Integer.getInteger(MINUTES, DEFAULT_MINUTES));
    long seed = Long.getLong(ChaosTest.SEED, System.nanoTime());

    ChaosTest.assertKept(Chaos.of(driver, nodes, seed, length));
  }
}
