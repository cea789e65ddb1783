package dev.holdfast.redlock.jedis;

import static dev.holdfast.redlock.jedis.Soon.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Nodes that go and come back, with the whole of Redlock above the driver. */
class AwayTest {
  private static final Duration TTL = Duration.ofSeconds(10);

  private final TestNodes servers = TestNodes.start(5);
  private final String url = "redlock:" + String.join(",", servers.uris()) + "?nodeTimeout=200ms";

  @AfterEach
  void stop() {
    servers.close();
  }

  @Test
  void aMinorityThatIsDownAtTheStartIsUsedWhenItReturns() throws InterruptedException {
    List<TestNode> away = List.of(servers.node(1), servers.node(4));
    away.forEach(TestNode::kill);
    try (LockManager locks = LockManager.open(url)) {
      locks.acquire("early", TTL).close();

      away.forEach(TestNode::restart);

      assertThatAllVoteAgain(locks);
    }
  }

  @Test
  void aNodeThatIsKilledAndRestartedVotesAgain() throws InterruptedException {
    try (LockManager locks = LockManager.open(url)) {
      locks.acquire("early", TTL).close();
      servers.node(2).kill();
      locks.acquire("without", TTL).close();
      servers.node(2).restart();
      assertThatAllVoteAgain(locks);
    }
  }

  @Test
  void aNodeThatIsFrozenForLongIsDroppedAndVotesAgainWhenItIsThawed() throws InterruptedException {
    try (Logs logs = new Logs();
        LockManager locks = LockManager.open(url)) {
      servers.node(3).freeze();
      soon()
          .until(
              () -> {
                locks.acquire("without", TTL).close();
                return logs.messages().stream().anyMatch(line -> line.contains("is down"));
              });
      servers.node(3).thaw();
      assertThatAllVoteAgain(locks);
    }
  }

  @Test
  void aNodeThatGoesAndReturnsIsOneWarningAndOneLine() throws InterruptedException {
    String node = servers.node(0).address();
    try (Logs logs = new Logs()) {
      try (LockManager locks = LockManager.open(url)) {
        servers.node(0).kill();
        soon().until(() -> !logs.messages().isEmpty());
        for (int i = 0; i < 20; i++) {
          locks.acquire("without", TTL).close();
        }
        servers.node(0).restart();
        assertThatAllVoteAgain(locks);
      }
      assertThat(logs.messages()).hasSize(2);
      assertThat(logs.messages().get(0)).startsWith("WARNING node " + node + " is down: ");
      assertThat(logs.messages().get(1)).isEqualTo("INFO node " + node + " is back");
    }
  }

  private void assertThatAllVoteAgain(LockManager locks) {
    soon()
        .ignoreExceptionsInstanceOf(ConditionTimeoutException.class)
        .untilAsserted(
            () -> {
              try (Lease lease = locks.acquire("late", TTL)) {
                soon()
                    .atMost(Duration.ofMillis(500))
                    .untilAsserted(
                        () ->
                            assertThat(servers.all())
                                .allSatisfy(
                                    node ->
                                        assertThat(node.command("GET", "late"))
                                            .isEqualTo(lease.token())));
              }
            });
  }
}
