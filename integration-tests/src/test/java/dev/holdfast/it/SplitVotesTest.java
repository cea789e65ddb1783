package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.tck.rules.CriticalSection;
import dev.holdfast.tck.rules.Workers;
import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of waiting for the nodes, and the end of split votes. */
@ForOneDriver
class SplitVotesTest {
  private final Backend backend;

  SplitVotesTest(Backend backend) {
    this.backend = backend;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  @Tag("exclusion")
  @Rule({"ACQ-1", "ACQ-3", "WAIT-5", "WAIT-6"})
  void contendersThatSplitTheVotesAllGetTheirTurn(int nodes) throws InterruptedException {
    try (Cluster cluster = Cluster.of(backend, nodes);
        Workers workers = new Workers()) {
      CriticalSection section = new CriticalSection();
      for (int manager = 0; manager < 3; manager++) {
        LockManager locks = cluster.open("retryDelay=10ms");
        workers.start(
            () -> {
              for (int i = 0; i < 15; i++) {
                try (Lease lease = locks.acquire("split", Cluster.TTL)) {
                  lease.requireHeld();
                  section.enter();
                }
              }
            });
      }
      workers.join();
      assertThat(section.entries()).isEqualTo(45);
      section.assertNeverTwo();
      cluster.awaitNoLocks();
    }
  }
}
