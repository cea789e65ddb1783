package dev.holdfast.testnodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testnodes.TestNode.State;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TestNodeTest {
  private static TestNodes nodes;
  private static TestNode node;

  @BeforeAll
  static void start() {
    nodes = TestNodes.start(1);
    node = nodes.node(0);
  }

  @AfterAll
  static void close() {
    nodes.close();
  }

  @BeforeEach
  void isUpAndEmpty() {
    if (node.state() != State.UP) {
      node.restart();
    }
    node.command("FLUSHALL");
  }

  @Test
  void isNamedInAllWaysByItsPort() {
    assertThat(node.index()).isZero();
    assertThat(node.host()).isEqualTo("127.0.0.1");
    assertThat(node.address()).isEqualTo("127.0.0.1:" + node.port());
    assertThat(node.uri()).isEqualTo("redis://127.0.0.1:" + node.port());
    assertThat(node).hasToString("node 0 (127.0.0.1:" + node.port() + ")");
  }

  @Test
  void knowsTheServersOwnVersionAndPid() {
    DefaultSource.assertAnswersItself(node);
  }

  @Test
  void aFrozenNodeAcceptsConnectionsAndAnswersNothingUntilItIsThawed() {
    node.freeze();

    assertThat(node.state()).isEqualTo(State.FROZEN);
    try (RawRedis connection = RawRedis.connect(node.host(), node.port(), Limits.SHORT)) {
      assertThatThrownBy(() -> connection.call("PING"))
          .isInstanceOf(NodeException.class)
          .hasMessageContaining(node.address())
          .hasMessageContaining("did not answer PING");
    }

    node.thaw();
    assertThat(node.state()).isEqualTo(State.UP);
    assertThat(node.command("PING")).isEqualTo("PONG");
  }

  @Test
  void freezingTwiceAndThawingTwiceIsFine() {
    node.freeze();
    node.freeze();
    assertThat(node.state()).isEqualTo(State.FROZEN);
    node.thaw();
    node.thaw();
    assertThat(node.state()).isEqualTo(State.UP);
  }

  @Test
  void aKilledNodeIsDownAndRefusesConnections() {
    node.kill();
    node.kill();

    assertThat(node.state()).isEqualTo(State.DOWN);
    assertThatThrownBy(() -> node.command("PING"))
        .isInstanceOf(NodeException.class)
        .hasMessageContaining(node.address())
        .hasMessageContaining("refused");
  }

  @Test
  void operationsOnAProcessSayThatTheNodeIsDown() {
    node.kill();

    for (Runnable operation : List.<Runnable>of(node::freeze, node::thaw, node::pid)) {
      assertThatThrownBy(operation::run)
          .isInstanceOf(NodeException.class)
          .hasMessageContaining(node.toString())
          .hasMessageContaining("it is down. restart() starts it");
    }
  }

  @Test
  void aRestartedNodeIsEmptyOnTheSamePort() {
    node.fill("key", 10);
    int port = node.port();
    long pid = node.pid();

    node.restart();

    assertThat(node.state()).isEqualTo(State.UP);
    assertThat(node.port()).isEqualTo(port);
    assertThat(node.pid()).isNotEqualTo(pid);
    assertThat(node.command("DBSIZE")).isEqualTo(0L);
  }

  @Test
  void aFrozenNodeCanBeKilledAndRestarted() {
    node.freeze();
    node.kill();
    assertThat(node.state()).isEqualTo(State.DOWN);

    node.restart();
    node.freeze();
    node.restart();
    assertThat(node.command("PING")).isEqualTo("PONG");
  }

  @Test
  void aNodeThatShutItselfDownIsDownAndCanBeRestarted() {
    assertThatThrownBy(() -> node.command("SHUTDOWN", "NOSAVE")).isInstanceOf(NodeException.class);
    assertThat(Waiting.until(Limits.LONG, () -> node.state() == State.DOWN)).isTrue();

    node.restart();
    assertThat(node.command("PING")).isEqualTo("PONG");
  }

  @Test
  void withoutPersistenceItDoesNotRestartWithDataAndSaysWhatIsNeeded() {
    long pid = node.pid();

    assertThatThrownBy(node::restartWithData)
        .isInstanceOf(NodeException.class)
        .hasMessageContaining(node.toString())
        .hasMessageContaining("config(\"appendonly yes\")");

    assertThat(node.pid()).isEqualTo(pid);
  }

  @Test
  void restartsWithASnapshotOnceAndIsEmptyAfterAPlainRestart() {
    node.fill("key", 3);
    node.command("SAVE");
    node.restartWithData();
    assertThat(node.command("DBSIZE")).isEqualTo(3L);

    node.restart();
    assertThat(node.command("DBSIZE")).isEqualTo(0L);
    assertThatThrownBy(node::restartWithData).hasMessageContaining("no data");
  }

  @Test
  void restartsWithItsAppendOnlyFileAfterASigkill() {
    try (TestNodes persistent = TestNodes.builder().count(1).config("appendonly yes").start()) {
      TestNode one = persistent.node(0);
      one.fill("key", 2_500);
      one.kill();
      one.restartWithData();
      assertThat(one.command("GET", "key2499")).isEqualTo("2499");
      assertThat(one.command("DBSIZE")).as("with the mark of a new node").isEqualTo(2_501L);

      one.restart();
      assertThat(one.command("DBSIZE")).isEqualTo(0L);
    }
  }

  @Test
  void fillsWithAsManyKeysAsAskedFor() {
    node.fill("a:", 1_001);
    node.fill("b:", 0);

    assertThat(node.command("DBSIZE")).isEqualTo(1_001L);
    assertThat(node.command("MGET", "a:0", "a:1000", "a:1001"))
        .isEqualTo(Arrays.asList("0", "1000", null));
  }

  @Test
  void countsCommandsByNameFromTheLastReset() {
    node.command("GET", "x");
    node.resetCommandCounts();
    node.command("set", "x", "1");
    node.command("EVAL", "return redis.call('GET', KEYS[1])", "1", "x");
    node.command("GET", "x");

    assertThat(node.commandCounts())
        .containsEntry("set", 1L)
        .containsEntry("get", 2L)
        .containsEntry("eval", 1L)
        .doesNotContainKey("del");
  }

  @Test
  void debugCommandsAreAllowed() {
    assertThat(node.command("DEBUG", "SLEEP", "0")).isEqualTo("OK");
  }

  @Test
  void faultsFromSeveralThreadsLeaveOneServerThatCanStillBeUsed() {
    CompletableFuture<?>[] chaos =
        IntStream.range(0, 8)
            .mapToObj(i -> CompletableFuture.runAsync(i % 2 == 0 ? node::restart : node::kill))
            .toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(chaos).join();

    node.restart();
    DefaultSource.assertAnswersItself(node);
  }

  @Test
  void anInterruptNeitherStopsARestartNorGetsLost() {
    Thread.currentThread().interrupt();
    node.restart();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(node.command("PING")).isEqualTo("PONG");
  }
}
