package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Callers give up while nodes hang: no key is left once they answer. */
@ForEachDriver
class InterruptedOnNodesTest {
  private final Cluster cluster;
  private final LockManager locks;
  private final Seed seed = new Seed();

  InterruptedOnNodesTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Rule({"WAIT-7", "ACQ-3"})
  void anInterruptWhileNodesHangEndsTheCallAtOnceAndLeavesNoKeyOnceTheyAnswer()
      throws InterruptedException {
    for (int round = 0; round < 5; round++) {
      List<TestNode> frozen = cluster.nodes().subList(0, 1 + round);
      frozen.forEach(TestNode::freeze);
      List<Interrupted> callers = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        String name = "round " + round + ", caller " + i;
        Interrupted caller = new Interrupted(() -> locks.acquire(name, Cluster.TTL));
        caller.start();
        callers.add(caller);
        seed.pauseUpTo(2_000);
      }
      long start = System.nanoTime();
      callers.forEach(Interrupted::interrupt);
      Eventually.soon().until(() -> callers.stream().allMatch(Interrupted::isOver));

      if (frozen.size() > 2) {
        assertThat(callers).as("%s", seed).allMatch(Interrupted::endedByInterrupt);
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .as("well below the node timeout")
            .isLessThan(Duration.ofMillis(400));
      }
      callers.forEach(caller -> caller.lease().ifPresent(Lease::close));
      frozen.forEach(TestNode::thaw);
      cluster.awaitNoLocks();
    }
  }

  @Test
  @Rule({"WAIT-9", "ACQ-3"})
  void futuresThatAreCancelledWhileNodesHangLeaveNoKeyOnceTheyAnswer() {
    for (int round = 0; round < 5; round++) {
      List<TestNode> frozen = cluster.nodes().subList(0, 1 + round);
      frozen.forEach(TestNode::freeze);
      List<CompletableFuture<Optional<Lease>>> futures = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        String name = "round " + round + ", future " + i;
        futures.add(locks.tryAcquireAsync(LockRequest.of(name, Cluster.TTL).waitForever()));
        seed.pauseUpTo(2_000);
      }
      for (CompletableFuture<Optional<Lease>> future : futures) {
        if (!future.cancel(true)) {
          future.join().ifPresent(Lease::close);
        }
      }
      frozen.forEach(TestNode::thaw);
      cluster.awaitNoLocks();
    }
  }

  @Test
  @Rule({"WAIT-7", "ACQ-6"})
  void whoIsInterruptedBeforehandSendsNothing() {
    cluster.nodes().forEach(TestNode::resetCommandCounts);
    Interrupted caller =
        new Interrupted(
            () -> {
              Thread.currentThread().interrupt();
              return locks.acquire("never", Cluster.TTL);
            });
    caller.start();
    Eventually.soon().until(caller::isOver);

    assertThat(caller.endedByInterrupt()).isTrue();
    assertThat(cluster.nodes())
        .allSatisfy(node -> assertThat(node.commandCounts()).doesNotContainKey("set"));
  }
}
