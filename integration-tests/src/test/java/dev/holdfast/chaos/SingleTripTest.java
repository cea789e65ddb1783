package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.it.ClockShim;
import dev.holdfast.testsupport.Rule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** The cost of fencing tokens where clocks differ: how many grants need a second trip. */
@EnabledIfSystemProperty(named = ChaosTest.SECONDS, matches = "\\d+")
class SingleTripTest {
  static final List<String> DRIVERS = Chaos.DRIVERS;

  private static final int NODES = 5;
  private static final int SKEW_MILLIS = 200;

  private static final int MAX_PERCENT = 5;

  private static final Duration LENGTH = Duration.ofSeconds(15);

  @TempDir private Path folder;

  @ParameterizedTest
  @FieldSource("DRIVERS")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  @Rule("ACQ-15")
  @DisplayName(
      "with clocks up to 200 ms apart, and contention without end, most grants take one trip")
  void mostGrantsTakeOneTrip(String driver) throws Exception {
    assumeThat(ClockShim.given()).as("a library for clocks").isPresent();
    Chaos calm = new Chaos(driver, NODES, 1, LENGTH, List.of(), List.of(), "");
    Path path = folder.resolve("journal");
    Set<String> granted = new HashSet<>();
    Files.createFile(path);
    try (World world = new World(NODES, folder);
        FenceTrips trips = new FenceTrips(world.nodes());
        Fleet fleet = new Fleet(3, number -> calm.client(number, folder, path, world))) {
      Random random = new Random(1);
      for (int node = 0; node < NODES; node++) {
        ClockShim.set(world.victim(node, random).clock(), skew(node, NODES));
      }
      for (int i = 0; i < fleet.all().size(); i++) {
        fleet.all().get(i).setClock(skew(i, fleet.all().size()));
      }
      try (Journal.Reader reader = new Journal.Reader(path)) {
        reader.read(line -> {}); // those of before the clocks differed do not count
        Lapse.of(LENGTH);
        fleet.end();
        reader.read(line -> note(line, granted));
      }

      granted.retainAll(trips.attempts()); // and a monitor may be late
      assertThat(granted).hasSizeGreaterThan(50);
      long stored = granted.stream().filter(trips.stored()::contains).count();
      System.out.println(driver + ": " + stored + " second trips in " + granted.size() + " grants");
      assertThat(stored).isLessThanOrEqualTo(granted.size() * MAX_PERCENT / 100);
    }
  }

  private static void note(String line, Set<String> granted) {
    if (Entry.parse(line) instanceof Entry.Got got) {
      granted.add(got.token());
    }
  }

  /** From the one end to the other. */
  private static Duration skew(int index, int count) {
    return Duration.ofMillis(-SKEW_MILLIS / 2 + (long) SKEW_MILLIS * index / (count - 1));
  }
}
