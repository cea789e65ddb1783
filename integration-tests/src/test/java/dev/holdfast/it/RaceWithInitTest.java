package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.testnodes.RedisErrorReply;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Changes of a real node between the look at it and its mark. */
class RaceWithInitTest {
  private static final String RECORD = "holdfast:guard";
  private static final int LOOKS = 3;

  /** Returns the changes of the node in the meantime. */
  static Stream<Named<Consumer<TestNode>>> meanwhile() {
    return Stream.of(
        Named.of("FLUSHALL", node -> node.command("FLUSHALL")),
        Named.of("restart without data", TestNode::restart),
        Named.of(
            "restart with data",
            node -> {
              node.command("SAVE");
              node.restartWithData();
            }),
        Named.of("known to have voted", node -> node.command("HSET", RECORD, "new", "0")),
        Named.of(
            "a quarantine begun again", node -> node.command("HINCRBY", RECORD, "since", "1")));
  }

  @ParameterizedTest
  @MethodSource("meanwhile")
  @Rule("GUARD-5")
  void aNodeIsMarkedOnlyAsItWasLookedAt(Consumer<TestNode> meanwhile) {
    try (TestNodes servers = TestNodes.start(3);
        LockManager locks = open(servers, meanwhile)) {
      RestartGuardAdmin guard = locks.unwrap(RestartGuardAdmin.class).orElseThrow();

      assertThatThrownBy(guard::init)
          .isInstanceOf(LockOutageException.class)
          .hasMessageContaining("not all nodes were initialised")
          .hasMessageContaining(servers.node(1).address() + ": it ");
      assertThat(guard.nodes())
          .extracting(node -> node.state() == State.VOTES)
          .containsExactly(true, false, true);
    }
  }

  private static LockManager open(TestNodes servers, Consumer<TestNode> meanwhile) {
    servers.all().forEach(node -> node.command("DEL", RECORD));
    return Redlock.open(
        new OneByOne(servers, meanwhile),
        RedlockOptions.defaults().nodeTimeout(Duration.ofSeconds(5)));
  }

  /** Sends each command on a connection of its own, and has something done before the marks. */
  private static final class OneByOne implements RedisNodes, RedisConnections {
    private final TestNodes servers;
    private final Consumer<TestNode> beforeTheMarks;
    private int reviews;

    OneByOne(TestNodes servers, Consumer<TestNode> beforeTheMarks) {
      this.servers = servers;
      this.beforeTheMarks = beforeTheMarks;
    }

    @Override
    public List<String> addresses() {
      return servers.all().stream().map(TestNode::address).toList();
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void disconnect(int node) {}

    @Override
    public RedisConnections first() {
      return this;
    }

    @Override
    public RedisConnections second() {
      return this; // scripts may be run
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            if (round.command() instanceof Command.Eval eval
                && !eval.withSource()
                && ++reviews == LOOKS + 1) {
              beforeTheMarks.accept(servers.node(1));
            }
            try {
              String[] words = round.command().words().toArray(new String[0]);
              round.reply(node, servers.node(node).command(words));
            } catch (RedisErrorReply e) {
              round.error(node, String.valueOf(e.getMessage()));
            }
          });
    }

    @Override
    public void close() {}
  }
}
