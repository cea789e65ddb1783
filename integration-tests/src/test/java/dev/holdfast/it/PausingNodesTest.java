package dev.holdfast.it;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.tck.rules.Workers;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Healthy nodes that stand still together for longer than nodeTimeout, again and again. */
@ForEachDriver
class PausingNodesTest {
  private static final int CALLERS = 4;

  /** The length of each node's pauses, twice a second: longer than the nodeTimeout below. */
  private static final Duration PAUSE = Duration.ofMillis(120);

  private static final int PAUSES = 10;

  private final Cluster cluster;

  PausingNodesTest(Backend backend) {
    cluster = Cluster.of(backend, 3);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule("FAULT-8")
  void nodesThatPauseTogetherAreNoOutage() throws InterruptedException {
    LockManager locks = cluster.open("nodeTimeout=50ms", "quorumTimeout=5s");
    AtomicBoolean isOver = new AtomicBoolean();
    try (Workers callers = new Workers()) {
      for (int i = 0; i < CALLERS; i++) {
        String name = "of caller " + i;
        callers.start(
            () -> {
              while (!isOver.get()) {
                try (Lease lease = locks.acquire(name, Cluster.TTL)) {
                  lease.requireHeld();
                }
              }
            });
      }
      for (int i = 0; i < PAUSES; i++) {
        cluster.nodes().forEach(node -> node.command("CLIENT", "PAUSE", "" + PAUSE.toMillis()));
        Awaitility.await().pollDelay(Duration.ofMillis(500)).until(() -> true);
      }
      isOver.set(true);
      callers.join();
    }
  }
}
