package dev.holdfast.drivertests;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Logs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Nodes that go and come back, with the whole of Redlock above the driver. */
public abstract class AwayContract {
  /** Much longer than a call that waits for no straggler. */
  protected static final Duration NODE_TIMEOUT = Duration.ofMillis(200);

  /** The ttl of all locks. */
  protected static final Duration TTL = Duration.ofSeconds(10);

  /** Five of each test's own. */
  @AutoClose protected final TestNodes servers = TestNodes.start(5);

  /** Opens a manager over the servers, with {@link #NODE_TIMEOUT}: by URL, unless overridden. */
  protected LockManager open() {
    return LockManager.open(
        "redlock:%s?nodeTimeout=%dms"
            .formatted(String.join(",", servers.uris()), NODE_TIMEOUT.toMillis()));
  }

  @Test
  void aMinorityThatIsDownAtTheStartIsUsedWhenItReturns() throws InterruptedException {
    List<TestNode> away = List.of(servers.node(1), servers.node(4));
    away.forEach(TestNode::kill);
    try (LockManager locks = open()) {
      locks.acquire("early", TTL).close();

      away.forEach(TestNode::restart);

      assertThatAllVoteAgain(locks);
    }
  }

  @Test
  void aNodeThatIsKilledAndRestartedVotesAgain() throws InterruptedException {
    try (LockManager locks = open()) {
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
        LockManager locks = open()) {
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
  void aNodeThatIsFrozenDelaysNoCallThatOthersDecide() throws InterruptedException {
    try (LockManager locks = open()) {
      locks.acquire("early", TTL).close();
      servers.node(3).freeze();
      List<Duration> beforeItCountsAsDown = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        long start = System.nanoTime();
        locks.acquire("without", TTL).close();
        beforeItCountsAsDown.add(Duration.ofNanos(System.nanoTime() - start));
      }
      assertThat(Collections.min(beforeItCountsAsDown)).isLessThan(NODE_TIMEOUT);
    }
  }

  @Test
  void outageDataLossAndReturnOfANodeAreLoggedOnceEach() throws InterruptedException {
    String node = servers.node(0).address();
    try (Logs logs = new Logs()) {
      try (LockManager locks = open()) {
        servers.node(0).kill();
        soon().until(() -> !logs.messages().isEmpty());
        for (int i = 0; i < 20; i++) {
          locks.acquire("without", TTL).close();
        }
        servers.node(0).restart();
        assertThatAllVoteAgain(locks);
      }
      assertThat(logs.messages()).hasSize(3);
      assertThat(logs.messages().get(0)).startsWith("WARNING node " + node + " is down: ");
      assertThat(logs.messages().get(1))
          .startsWith(
              "WARNING node " + node + " does not vote: it is new or came back without its data ");
      assertThat(logs.messages().get(2)).isEqualTo("INFO node " + node + " is back");
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
