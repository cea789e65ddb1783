package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class KeptAliveTest {
  private static final int LEASES = 1_001;

  @Test
  void aKeyOnAMajorityIsNotLostWhateverItsValueIs() {
    try (TestNodes servers = TestNodes.start(3)) {
      for (int node = 0; node < 2; node++) {
        servers.node(node).command("SET", "job-0", "a string");
        servers.node(node).command("HSET", "job-1000", "a", "hash");
      }
      TestNode last = servers.node(2);
      last.command("SET", "job-500", "of a minority");

      assertThat(
              new KeptAlive(LEASES, Duration.ZERO).held(servers.all(), number -> "job-" + number))
          .isEqualTo(2);
    }
  }
}
