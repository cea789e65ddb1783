package dev.holdfast.legacy.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rolling deployment with real processes, some of which are killed while they hold the lock.
 * Neighbours share a lock: those that know the old one (old, from, both), and those that know the
 * new one (both, to).
 */
@Tag("exclusion")
class MixedFleetTest {
  /**
   * No process waits forever. A kill costs the others up to three seconds with a ttl of a second.
   * There is one each five seconds, no process queues, and a wait may span some of them by chance.
   */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(20);

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @TempDir private Path folder;

  @Test
  @Tag("slow")
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("a fleet that moves phase by phase never has two in the critical section")
  void aFleetMovesPhaseByPhase() throws IOException {
    moves(2, Duration.ofSeconds(5));
  }

  @Test
  @Tag("soak")
  @Timeout(value = 20, unit = TimeUnit.MINUTES)
  @DisplayName("nor does one that takes its time")
  void aFleetTakesItsTime() throws IOException {
    moves(3, Duration.ofMinutes(3));
  }

  @Test
  @Tag("slow")
  @Timeout(value = 5, unit = TimeUnit.MINUTES)
  @DisplayName("two phases that share no lock are seen to let two in: from beside to")
  void aPhaseThatIsLeftOutLetsTwoIn() throws IOException {
    try (Fleet fleet = new Fleet(folder)) {
      fleet.start(Kind.FROM, 2);
      fleet.start(Kind.TO, 2);

      await().atMost(PATIENCE).until(() -> !fleet.violations().isEmpty());
    }
  }

  /**
   * Moves a fleet from the old lock to the new one.
   *
   * @param members of each phase
   * @param each how long each phase works. The first, of which two kinds are killed, works twice as
   *     long
   */
  private void moves(int members, Duration each) throws IOException {
    try (Fleet fleet = new Fleet(folder)) {
      fleet.start(Kind.OLD, members);
      fleet.start(Kind.FROM, members);
      fleet.work(each.multipliedBy(2));

      fleet.start(Kind.BOTH, members);
      fleet.work(each);

      fleet.stop(Kind.OLD);
      fleet.stop(Kind.FROM);
      fleet.start(Kind.TO, members);
      fleet.work(each);

      assertThat(fleet.violations()).isEmpty();
      for (Kind kind : Kind.values()) {
        System.out.println(fleet.figures(kind));
        assertThat(fleet.grants(kind)).as("grants of %s", kind).isPositive();
        assertThat(fleet.kills(kind)).as("killed of %s", kind).isPositive();
      }
      for (Kind kind : List.of(Kind.FROM, Kind.BOTH, Kind.TO)) {
        assertThat(fleet.longestWait(kind)).as("of %s", kind).isLessThan(LONGEST_WAIT);
      }
    }
  }
}
