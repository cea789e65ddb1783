package dev.holdfast.redlock.redisson;

import static dev.holdfast.redlock.redisson.Soon.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

/** Nodes that go and come back, with the whole of Redlock above the driver. */
@ParameterizedClass
@EnumSource(
    value = Links.Kind.class,
    names = {"OWN_CLIENT", "YOUR_CLIENT"})
class AwayTest {
  private static final Duration TTL = Duration.ofSeconds(10);

  private final TestNodes servers = TestNodes.start(5);
  private final List<RedissonClient> clients = new ArrayList<>();
  private final RedissonRedlock.Builder builder;

  AwayTest(Links.Kind kind) {
    builder = Links.builder(kind, clients, servers.uris().toArray(String[]::new));
  }

  @AfterEach
  void stop() {
    clients.forEach(YourClients::shutdown);
    servers.close();
  }

  @Test
  void aMinorityThatIsDownAtTheStartIsUsedWhenItReturns() throws InterruptedException {
    List<TestNode> away = List.of(servers.node(1), servers.node(4));
    away.forEach(TestNode::kill);
    try (LockManager locks = builder.open()) {
      locks.acquire("early", TTL).close();

      away.forEach(TestNode::restart);

      assertThatAllVoteAgain(locks);
    }
  }

  @Test
  void aNodeThatIsKilledAndRestartedVotesAgain() throws InterruptedException {
    try (LockManager locks = builder.open()) {
      locks.acquire("early", TTL).close();
      servers.node(2).kill();
      locks.acquire("without", TTL).close();
      servers.node(2).restart();
      assertThatAllVoteAgain(locks);
    }
  }

  @Test
  void aNodeThatIsFrozenHoldsUpNoCall() throws InterruptedException {
    try (LockManager locks = builder.open()) {
      locks.acquire("early", TTL).close();
      servers.node(3).freeze();
      int calls = 100;
      long start = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        locks.acquire("without", TTL).close();
      }
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertThat(took).isLessThan(Links.NODE_TIMEOUT.multipliedBy(calls / 4));
    }
  }

  @Test
  void aNodeThatIsFrozenForLongIsDroppedAndVotesAgainWhenItIsThawed() throws InterruptedException {
    try (Logs logs = new Logs();
        LockManager locks = builder.open()) {
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
      try (LockManager locks = builder.open()) {
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
