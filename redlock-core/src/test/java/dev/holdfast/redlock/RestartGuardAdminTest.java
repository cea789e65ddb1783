package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.RestartGuardAdmin.Node;
import dev.holdfast.redlock.RestartGuardAdmin.State;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The restart guard of three nodes as operators see it, reply by reply. */
class RestartGuardAdminTest {
  private static final List<Object> NEW = List.of(3_000L, 57_001L, 1L, "1700000000000001");
  private static final List<Object> BACK = List.of(3_000L, 57_001L, 0L, "1700000000000002");
  private static final List<Object> VOTES = List.of(1_700_000_000_000L, 0L, 0L, "0");
  private static final String OTHERS = "GUARDED 60000 5 bills";

  private final Map<Integer, Object> replies = new HashMap<>();
  private final Map<Integer, Object> repliesToMarks = new HashMap<>();
  private final List<String> ended = new ArrayList<>();

  @AutoClose
  private final LockManager manager =
      Redlock.open(new Answering(), RedlockOptions.defaults().nodeTimeout(Duration.ofSeconds(1)));

  private final RestartGuardAdmin guard = manager.unwrap(RestartGuardAdmin.class).orElseThrow();

  @Test
  @Rule("GUARD-2")
  @DisplayName("each state is reported: new, back without its data, of other" + " clients, voting")
  void eachStateIsReported() {
    answer(NEW, BACK, VOTES);
    assertThat(guard.nodes())
        .containsExactly(
            new Node(
                "h1:6379",
                State.NEW,
                Duration.ofMillis(3_000),
                Duration.ofMillis(57_001),
                "it looks new; its vote counts in 58 s"),
            new Node(
                "h2:6379",
                State.QUARANTINED,
                Duration.ofMillis(3_000),
                Duration.ofMillis(57_001),
                "it came back without its data 3 s ago; its vote counts again in 57 s"),
            new Node("h3:6379", State.VOTES, Duration.ZERO, Duration.ZERO, "it votes"));

    answer(OTHERS, "NOPERM no", VOTES);
    assertThat(guard.nodes())
        .extracting(Node::state)
        .containsExactly(State.FOREIGN, State.UNREACHABLE, State.VOTES);
    assertThat(guard.nodes().get(0).text()).contains("maxTtl=60000ms, 5 nodes", "cluster='bills'");
    assertThat(ended).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-2", "GUARD-6"})
  @DisplayName("a quarantine that is over ends when a lock is requested")
  void quarantineThatIsOverIsNoVoteYet() {
    answer(List.of(70_000L, 0L, 0L, "1700000000000002"), List.of(70_000L, 0L, 1L, "17"), VOTES);

    assertThat(guard.nodes())
        .extracting(Node::state)
        .containsExactly(State.QUARANTINED, State.NEW, State.VOTES);
    assertThat(guard.nodes().get(0).text())
        .isEqualTo("its quarantine can end, and does with the next request for a lock");
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("only the quarantine that was inspected is ended")
  void onlyTheInspectedQuarantineIsEnded() {
    answer(NEW, NEW, List.of(0L, 60_000L, 1L, "1700000000000003"));
    marks(VOTES, VOTES, VOTES);

    guard.init();

    assertThat(ended).containsExactly("1700000000000001", "1700000000000001", "1700000000000003");
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("the operator is asked with the nodes as they were seen, and may" + " refuse")
  void operatorMayRefuse() {
    answer(NEW, NEW, NEW);
    marks(VOTES, VOTES, VOTES);
    List<Node> shown = new ArrayList<>();

    assertThat(guard.init(shown::addAll)).isTrue();
    assertThat(ended).hasSize(3);
    ended.clear();
    assertThat(guard.init(nodes -> false)).isFalse();
    assertThat(shown).extracting(Node::state).containsExactly(State.NEW, State.NEW, State.NEW);
    assertThat(ended).isEmpty();
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("nothing is done if all nodes vote")
  void nothingIsDoneIfAllVote() {
    answer(VOTES, VOTES, VOTES);

    guard.init();

    assertThat(guard.init(nodes -> false)).isTrue();
    assertThat(ended).isEmpty();
  }

  static Stream<Object> others() {
    return Stream.of(BACK, VOTES, "NOPERM no", "LOADING", List.of(), 1L);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Rule("GUARD-5")
  @DisplayName("if one node does not look new, no node is initialised")
  void nodeThatIsNotNewPreventsInitialisation(Object other) {
    answer(NEW, other, NEW);

    assertThatThrownBy(guard::init)
        .isInstanceOfSatisfying(
            LockOutageException.class,
            e -> {
              assertThat(e.failures()).containsKey("h2:6379");
              assertThat(e.isOutcomeUnknown()).isFalse();
            })
        .hasMessageStartingWith("no node was initialised: ");
    assertThat(ended).isEmpty();
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("the error says how long to wait: until the last node votes")
  void errorSaysHowLongToWait() {
    answer(VOTES, List.of(0L, 12_000L, 0L, "1"), NEW);

    assertThatThrownBy(guard::init)
        .hasMessageContaining(
            "wait 58 s, and all vote: h1:6379: it votes; h2:6379: it came back without its data 0 s"
                + " ago; its vote counts again in 12 s; h3:6379: it looks new; its vote counts in"
                + " 58 s");
  }

  @Test
  @Rule({"GUARD-4", "GUARD-5"})
  @DisplayName("a node with other guard terms is a configuration error")
  void nodeWithOtherGuardTermsIsAConfigurationError() {
    answer(NEW, OTHERS, VOTES);

    assertThatThrownBy(guard::init)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("h2:6379: its clients gave maxTtl=60000ms, 5 nodes");
    assertThat(ended).isEmpty();
  }

  @Test
  @Rule("GUARD-5")
  @DisplayName("a node whose record changed meanwhile is named")
  void nodeThatCouldNotBeInitialisedIsNamed() {
    answer(NEW, NEW, NEW);
    marks(VOTES, BACK, "LOADING");

    assertThatThrownBy(guard::init)
        .isInstanceOfSatisfying(
            LockOutageException.class,
            e -> {
              assertThat(e.failures()).containsOnlyKeys("h2:6379", "h3:6379");
              assertThat(e.isOutcomeUnknown()).isTrue();
            });
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("a call for the state is a first connection: nodes that are new" + " later wait")
  void nodesThatAreNewAfterTheFirstCallWait() {
    answer(NEW, NEW, VOTES);
    marks(VOTES, VOTES, VOTES);
    RedlockOptions options =
        RedlockOptions.defaults()
            .nodeTimeout(Duration.ofSeconds(1))
            .connectLazily()
            .trustNewNodes();
    try (LockManager trusting = Redlock.open(new Answering(), options)) {
      assertThat(trusting.unwrap(RestartGuardAdmin.class).orElseThrow().nodes())
          .extracting(Node::state)
          .containsExactly(State.NEW, State.NEW, State.VOTES);
      answer(NEW, NEW, NEW);

      assertThatThrownBy(() -> trusting.tryAcquire("a", Duration.ofSeconds(10)))
          .isInstanceOf(LockOutageException.class);
      assertThat(ended).doesNotContain("1700000000000001");
    }
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName("the nodes of a closed manager are unreachable, and no call waits" + " forever")
  void nodesOfAClosedManagerAreUnreachable() {
    answer(VOTES, VOTES, VOTES);
    replies.remove(1);
    manager.close();

    assertThat(guard.nodes())
        .extracting(Node::state)
        .containsExactly(State.VOTES, State.UNREACHABLE, State.VOTES);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("there is no RestartGuardAdmin if the option is off")
  void thereIsNoAdminWithoutTheGuard(boolean on) {
    try (LockManager other =
        Redlock.open(new Answering(), RedlockOptions.defaults().restartGuard(on))) {
      assertThat(other.unwrap(RestartGuardAdmin.class).isPresent()).isEqualTo(on);
    }
  }

  static Stream<Object> badReplies() {
    return Stream.of(
        "",
        1L,
        List.of(),
        List.of(1L, 1L, 1L),
        List.of(1L, 1L, 1L, 1L),
        List.of("1", 1L, 1L, "1"),
        List.of(1L, "1", 1L, "1"),
        List.of(1L, 1L, "1", "1"),
        List.of(1L, -1L, 1L, "1"),
        List.of(1L, 0L, 1L, "1", "1"),
        List.of(List.of(), 0L, 1L, "1"));
  }

  @ParameterizedTest
  @MethodSource("badReplies")
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a malformed answer is no vote")
  void malformedAnswerIsNoVote(Object bad) {
    answer(bad, VOTES, VOTES);

    assertThat(guard.nodes())
        .extracting(Node::state)
        .containsExactly(State.UNREACHABLE, State.VOTES, State.VOTES);
  }

  private void answer(Object... each) {
    for (int node = 0; node < each.length; node++) {
      replies.put(node, each[node]);
    }
  }

  private void marks(Object... each) {
    for (int node = 0; node < each.length; node++) {
      repliesToMarks.put(node, each[node]);
    }
  }

  /** Answers at once, as the test says: a text is an error, and without an answer none comes. */
  private final class Answering implements RedisNodes, RedisConnections {
    @Override
    public List<String> addresses() {
      return List.of("h1:6379", "h2:6379", "h3:6379");
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
      round.forEachNode(node -> answer(round, node));
    }

    private void answer(Round round, int node) {
      if (round.command() instanceof Command.Info) {
        round.reply(node, "run_id:r" + node);
      } else if (round.command() instanceof Command.Eval eval && eval.withSource()) {
        round.reply(node, 1L);
      } else if (round.command() instanceof Command.Eval eval) {
        reply(round, node, eval.arguments().get(0));
      }
    }

    private void reply(Round round, int node, String toEnd) {
      if (!toEnd.isEmpty()) {
        ended.add(toEnd);
      }
      Object reply = (toEnd.isEmpty() ? replies : repliesToMarks).get(node);
      if (reply instanceof String error) {
        round.error(node, error);
      } else if (reply != null) {
        round.reply(node, reply);
      }
    }

    @Override
    public void close() {}
  }
}
