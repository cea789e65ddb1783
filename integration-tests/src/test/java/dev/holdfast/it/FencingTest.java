package dev.holdfast.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.Clock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.jedis.JedisRedlock;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cost of fencing tokens on real servers. */
class FencingTest {
  private static final int GRANTS = 200;
  private static final Duration APART = Duration.ofMillis(200);

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  void oneTripGivesTheTokenInNearlyAllGrantsThoughClocksAreApart() throws Exception {
    SteppedClock behind = new SteppedClock();
    behind.step(APART.negated());
    try (TestNodes nodes = TestNodes.start(5);
        LockManager one = open(nodes, new SteppedClock());
        LockManager other = open(nodes, behind)) {
      List<Long> tokens = new ArrayList<>();
      long before = scripts(nodes.node(0));
      for (int grant = 0; grant < GRANTS; grant++) {
        Lease lease = (grant % 2 == 0 ? one : other).acquire("job", Duration.ofSeconds(30));
        tokens.add(lease.fencingToken().orElseThrow());
        lease.release();
      }

      assertThat(tokens).isSorted().doesNotHaveDuplicates();
      long secondTrips = scripts(nodes.node(0)) - before - 2 * GRANTS;
      assertThat(secondTrips).as("second trips in %d grants", GRANTS).isLessThan(GRANTS / 20);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  void theCounterOutlivesAHoldThatIsLongerThanItsOwnLife() throws Exception {
    Duration hold = Duration.ofHours(12);
    try (TestNodes nodes = TestNodes.start(3);
        LockManager locks = open(nodes, new SteppedClock())) {
      LockRequest request = LockRequest.of("job", Duration.ofSeconds(30)).holdAtLeast(hold);
      assertThat(locks.acquire(request).release()).isTrue();

      for (TestNode node : nodes.all()) { // one may still have the ttl of the grant
        Eventually.soon()
            .untilAsserted(
                () -> assertThat(life(node, "job")).isBetween(hold.minusMinutes(5), hold));
        assertThat(life(node, "holdfast:fence:job")).isGreaterThan(hold);
      }
    }
  }

  private static Duration life(TestNode node, String key) {
    return Duration.ofMillis((Long) requireNonNull(node.command("PTTL", key)));
  }

  private static LockManager open(TestNodes nodes, SteppedClock clock) {
    JedisRedlock.Builder builder =
        JedisRedlock.builder()
            .options(
                RedlockOptions.defaults()
                    .clock(Clock.withWall(clock))
                    .nodeTimeout(Duration.ofSeconds(2)));
    nodes.uris().forEach(uri -> builder.node(URI.create(uri)));
    return builder.open();
  }

  private static long scripts(TestNode node) {
    return node.commandCounts().getOrDefault("evalsha", 0L);
  }
}
