package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A minute of chaos. The seed draws the driver, the number of nodes and the faults, and -D{@value
 * #SEED} repeats one. Only where it is asked for, because it takes as long as it says.
 */
@EnabledIfSystemProperty(named = ChaosTest.SECONDS, matches = "\\d+")
@Tag("exclusion")
class ChaosTest {
  static final String SECONDS = "holdfast.chaos.seconds";
  static final String SEED = "holdfast.chaos.seed";

  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  @DisplayName("all promises are kept under all faults of nodes, network and clients")
  void allThatIsPromisedIsKept() throws Exception {
    long seed = Long.getLong(SEED, System.nanoTime());
    Random random = new Random(seed);
    String driver = Chaos.DRIVERS.get(random.nextInt(Chaos.DRIVERS.size()));
    int nodes = random.nextBoolean() ? 3 : 5;

    assertKept(Chaos.of(driver, nodes, seed, Duration.ofSeconds(Long.getLong(SECONDS))));
  }

  static void assertKept(Chaos chaos) throws Exception {
    String what = chaos.driver() + ", " + chaos.nodes() + " nodes, seed " + chaos.seed();
    System.out.println("chaos: " + what);
    Verdict verdict = chaos.run(Chaos.folder(chaos.driver() + "-" + chaos.nodes()));
    System.out.println(verdict.row(what));
    System.out.println(verdict.faults());
    assertThat(verdict.wrong()).as(what).isEmpty();
    assertThat(verdict.grants()).as("grants, %s", what).isGreaterThan(chaos.length().toSeconds());
  }
}
