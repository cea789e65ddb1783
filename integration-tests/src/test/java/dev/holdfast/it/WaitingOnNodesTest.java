package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What waiting costs the nodes, and that split votes end. */
@ForEachDriver
class WaitingOnNodesTest {
  private final Backend backend;

  WaitingOnNodesTest(Backend backend) {
    this.backend = backend;
  }

  @Test
  @Rule({"WAIT-4", "WAIT-6"})
  void aHundredWaitersOfOneManagerAskAsSeldomAsOne() {
    try (Cluster cluster = Cluster.of(backend)) {
      cluster.nodes().forEach(node -> Cluster.occupy(node, "busy"));
      LockManager locks = cluster.open("retryDelay=100ms");
      List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
      cluster.node(0).resetCommandCounts();
      long start = System.nanoTime();
      for (int i = 0; i < 100; i++) {
        waiters.add(locks.tryAcquireAsync(LockRequest.of("busy", Cluster.TTL).waitForever()));
      }

      Eventually.soon().until(() -> attempts(cluster) >= 10);
      long counted = attempts(cluster);
      long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();

      assertThat(counted).isLessThanOrEqualTo(1 + millis / 50);
      assertThat(waiters).noneMatch(CompletableFuture::isDone);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
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
      section.assertEntered(45);
      cluster.awaitNoLocks();
    }
  }

  @Test
  @Rule({"ACQ-2", "ACQ-3", "ACQ-4"})
  void oneVoteEachOfTwoNodesIsNoLockForAnybody() throws InterruptedException {
    try (Cluster cluster = Cluster.of(backend, 2)) {
      LockManager locks = cluster.open();
      Cluster.occupy(cluster.node(1), "split");

      assertThat(locks.tryAcquire("split", Cluster.TTL)).isEmpty();

      Eventually.soon().until(() -> Cluster.locksOn(cluster.node(0)).isEmpty());
      Fault.OCCUPIED.assertUntouched(cluster.node(1), "split");
      cluster.node(1).command("DEL", "split");
      assertThat(locks.tryAcquire("split", Cluster.TTL)).isPresent();
    }
  }

  @UnderLoad
  @Rule({"ACQ-1", "WAIT-5"})
  void contendersForTwoNodesUnderLoad() throws InterruptedException {
    contendersThatSplitTheVotesAllGetTheirTurn(2);
  }

  private static long attempts(Cluster cluster) {
    return cluster.node(0).commandCounts().getOrDefault("set", 0L);
  }
}
