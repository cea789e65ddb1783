package dev.holdfast.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.cli.Limits;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class DemoFaultsTest {
  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("nodes that were killed are back at once")
  void nodesThatWereKilledAreBackAtOnce() throws InterruptedException {
    try (TestNodes nodes = TestNodes.start(DemoPlan.NODES)) {
      DemoFaults faults = DemoFaults.begin(nodes);
      await().atMost(Limits.LONG).until(() -> faults.kills() > 0);
      faults.end();

      assertThat(nodes.all()).extracting(TestNode::state).containsOnly(TestNode.State.UP);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"lettuce", "jedis", "redisson"})
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("nodes that were killed do not vote for as long as the demo counts them as away")
  void killedNodesDoNotVoteForTheCountedTime(String driver) {
    DemoPlan plan = new DemoPlan(1, 1, true, true, false, driver, Optional.empty());
    try (TestNodes nodes = TestNodes.start(DemoPlan.NODES);
        LockManager locks = new Backend(plan.url(nodes)).open()) {
      RestartGuardAdmin guard = locks.unwrap(RestartGuardAdmin.class).orElseThrow();
      awaitState(locks, guard, State.VOTES);
      nodes.node(1).restart();

      Node away = awaitState(locks, guard, State.NEW);
      Duration all = Duration.ofMillis(DemoFaults.QUARANTINE_MILLIS);
      assertThat(away.left()).isBetween(all.minus(away.age()).minusMillis(1), all);
      awaitState(locks, guard, State.VOTES);
    }
  }

  /** Asks for a lock before each look, as the demo's workers do: that alone ends quarantines. */
  private static Node awaitState(LockManager locks, RestartGuardAdmin guard, State state) {
    return await()
        .atMost(Limits.LONG)
        .until(
            () -> {
              locks.tryAcquireAsync(LockRequest.of("look", Duration.ofMillis(100)));
              return guard.nodes().get(1);
            },
            node -> node.state() == state);
  }
}
