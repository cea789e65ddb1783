package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockNode.State;
import dev.holdfast.LockRequest;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Vote;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The votes and states of nodes as listeners and operators see them, message by message. */
class NodeReportsTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration GATHERING = Duration.ofMillis(10);
  private static final long FENCE = 1_700_000_000_000_000L;

  // replies to the question for a guard record: age, time left, whether new, quarantine
  private static final List<Object> VOTES = List.of(1_700_000_000_000L, 0L, 0L, "0");
  private static final List<Object> OVER = List.of(70_000L, 0L, 0L, "17");
  private static final List<Object> QUARANTINED = List.of(3_000L, 57_001L, 0L, "17");

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(5);
  private final List<String> seen = new ArrayList<>();
  private final LockManager locks = Redlock.open(nodes, time.options());

  /** Writes down grants, votes and changes of nodes. */
  private final class Recorder implements LockListener {
    @Override
    public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
      seen.add("granted by " + votes + ", margin " + margin);
    }

    @Override
    public void onVote(String node, Vote vote) {
      seen.add(node.substring(0, 2) + " " + vote);
    }

    @Override
    public void onNode(String node, State state, String cause) {
      seen.add(node.substring(0, 2) + " " + state + " " + cause);
    }
  }

  private List<Asked> ask() {
    locks.addListener(new Recorder());
    ask("a");
    return nodes.take();
  }

  private CompletableFuture<Optional<Lease>> ask(String name) {
    return locks.tryAcquireAsync(LockRequest.of(name, TTL));
  }

  private static void grant(List<Asked> asked, int... voters) {
    for (int node : voters) {
      asked.get(node).round().reply(node, FENCE);
    }
  }

  private List<String> gathered() {
    time.advance(GATHERING);
    List<String> gathered = List.copyOf(seen);
    seen.clear();
    return gathered;
  }

  @Test
  @Rule("LISTEN-12")
  @DisplayName("each vote is reported once, also one that comes after the decision")
  void eachVoteIsReportedOnce() {
    List<Asked> asked = ask();
    asked.get(0).round().reply(0, FENCE);
    asked.get(1).round().reply(1, FENCE);
    asked.get(3).round().error(3, "OOM no memory");
    asked.get(2).round().reply(2, FENCE);
    asked.get(4).round().reply(4, FENCE);

    assertThat(gathered())
        .containsExactly(
            "granted by 3, margin 1",
            "h1 GRANTED",
            "h2 GRANTED",
            "h4 ERROR",
            "h3 GRANTED",
            "h5 GRANTED");
  }

  @Test
  @Rule("LISTEN-12")
  @DisplayName("a node that lets the deadline pass is silent, and its late vote is not reported")
  void aLateVoteWasReportedAsSilence() {
    List<Asked> asked = ask();
    asked.get(0).round().reply(0, FENCE);
    asked.get(1).round().reply(1, Scripts.OTHER);
    asked.get(2).round().reply(2, "no vote");
    time.advance(Duration.ofSeconds(1));
    asked.get(3).round().reply(3, FENCE);

    assertThat(gathered())
        .containsOnlyOnce("h1 GRANTED", "h2 REFUSED", "h3 ERROR", "h4 SILENT", "h5 SILENT")
        .doesNotContain("h4 GRANTED");
  }

  @Test
  @Rule("LISTEN-12")
  @DisplayName("a node that is down is silent, and takes one from the margin")
  void aNodeThatIsDownIsSilent() {
    nodes.unreachable(4, new IllegalStateException("refused"));
    nodes.breakConnection(4);
    time.advance(Duration.ofMillis(100));
    nodes.take();

    List<Asked> asked = ask();
    grant(asked, 0, 1, 2);

    assertThat(gathered()).contains("granted by 3, margin 1", "h5 SILENT").hasSize(5);
  }

  @Test
  @Rule("LISTEN-14")
  @DisplayName("a listener of the builder learns of each node that is connected, or not")
  void nodesAreReportedFromTheOpeningOn() {
    ScriptedNodes three = new ScriptedNodes(3);
    three.unreachable(1, new IllegalStateException("refused"));

    LockManager opened = Redlock.open(three, time.options().listener(new Recorder()));

    assertThat(gathered()).containsExactlyInAnyOrder("h1 UP ", "h2 DOWN refused", "h3 UP ");
    assertThat(opened.nodes())
        .extracting(LockNode::state)
        .containsExactly(State.UP, State.DOWN, State.UP);
  }

  @Test
  @Rule("LISTEN-14")
  @DisplayName("a manager over nodes that are connected already reports each of them")
  void nodesThatAreConnectedAlreadyAreReported() {
    LockPrimitive connected = locks.unwrap(LockPrimitive.class).orElseThrow();

    LockManager second =
        LockManagerBuilder.over(connected)
            .clock(time)
            .scheduler(time)
            .listener(new Recorder())
            .build();

    assertThat(gathered()).containsExactly("h1 UP ", "h2 UP ", "h3 UP ", "h4 UP ", "h5 UP ");
    assertThat(second.nodes()).hasSize(5);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  @Rule("NODES-5")
  @DisplayName("a node that goes down and comes back is reported, with the cause")
  void aNodeThatGoesDownIsReported(int size) {
    ScriptedNodes some = new ScriptedNodes(size);
    LockManager opened = Redlock.open(some, time.options());
    int last = size - 1;
    opened.addListener(new Recorder());
    assertThat(opened.nodes()).hasSize(size).extracting(LockNode::state).containsOnly(State.UP);
    Instant before = opened.nodes().get(last).since();
    time.advance(Duration.ofSeconds(1));
    some.unreachable(last, new IllegalStateException("refused"));
    some.breakConnection(last);
    time.advance(Duration.ofMillis(100));

    assertThat(gathered()).containsExactly("h" + size + " DOWN refused");
    LockNode down = opened.nodes().get(last);
    assertThat(down.state()).isEqualTo(State.DOWN);
    assertThat(down.cause()).isEqualTo("refused");
    assertThat(down.since()).isAfter(before);

    some.unreachable(last, null);
    time.advance(Duration.ofSeconds(2));

    assertThat(gathered()).containsExactly("h" + size + " UP ");
    assertThat(opened.nodes().get(last).state()).isEqualTo(State.UP);
    assertThat(opened.nodes().get(last).cause()).isEmpty();
  }

  @Test
  @Rule("NODES-5")
  @DisplayName("a connection that is replaced at once is no change")
  void aConnectionThatIsReplacedIsNoChange() {
    locks.addListener(new Recorder());

    nodes.breakConnection(1);
    time.advance(Duration.ofMillis(20));

    assertThat(gathered()).isEmpty();
  }

  @Test
  @Rule("NODES-6")
  @DisplayName("a node in quarantine is shown with the time of its next vote, until it votes")
  void aNodeInQuarantineIsShown() {
    List<Asked> asked = ask();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 3000 57000 0 0 1700000000000001");
    grant(asked, 0, 2, 3);

    assertThat(gathered())
        .contains("h2 QUARANTINED", "granted by 3, margin 1")
        .anyMatch(text -> text.startsWith("h2 QUARANTINED it came back without its data"));
    LockNode node = locks.nodes().get(1);
    assertThat(node.state()).isEqualTo(State.QUARANTINED);
    assertThat(Duration.between(node.since(), node.votesAgain().orElseThrow()))
        .isEqualTo(Duration.ofSeconds(60));

    ask("b");
    grant(nodes.take(), 0, 1, 2);

    assertThat(gathered()).contains("h2 UP ");
    assertThat(locks.nodes().get(1).votesAgain()).isEmpty();
  }

  @Test
  @Rule("NODES-6")
  @DisplayName("the cause of a quarantine has no times, which would soon be wrong")
  void theCauseOfAQuarantineStaysTrue() {
    List<Asked> asked = ask();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 3000 57000 0 0 1700000000000001");
    asked.get(2).round().error(2, "QUARANTINE " + FENCE + " 3000 57000 0 1 1700000000000001");
    Instant begun = locks.nodes().get(1).since();
    Instant votesAgain = locks.nodes().get(1).votesAgain().orElseThrow();
    time.advance(Duration.ofSeconds(30));

    LockNode node = locks.nodes().get(1);

    assertThat(node.cause()).isEqualTo("it came back without its data");
    assertThat(node.since()).isEqualTo(begun);
    assertThat(node.votesAgain()).contains(votesAgain);
    assertThat(locks.nodes().get(2).cause()).isEqualTo("it is new or came back without its data");
  }

  @Test
  @Rule("NODES-6")
  @DisplayName("a node that loses its data twice is shown with its present quarantine")
  void aSecondLossOfDataIsShown() {
    List<Asked> asked = ask();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 3000 57000 0 0 1700000000000001");
    grant(asked, 0, 2, 3, 4);
    Instant before = locks.nodes().get(1).votesAgain().orElseThrow();
    time.advance(Duration.ofSeconds(5));
    nodes.take();

    ask("b");
    asked = nodes.take();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 0 60000 0 1 1700000005000000");
    grant(asked, 0, 2, 3, 4);

    LockNode node = locks.nodes().get(1);
    assertThat(Duration.between(before, node.votesAgain().orElseThrow())).hasSeconds(8);
    assertThat(Duration.between(node.since(), node.votesAgain().orElseThrow())).hasSeconds(60);
    assertThat(node.cause()).isEqualTo("it is new or came back without its data");

    pinged(VOTES, List.of(1_000L, 42_000L, 0L, "19"), VOTES, VOTES, VOTES);
    assertThat(locks.nodes().get(1).votesAgain()).isNotEqualTo(node.votesAgain());
  }

  @Test
  @Rule("NODES-5")
  @DisplayName("each quarantine is reported once, also one that follows on another")
  void eachQuarantineIsReported() {
    List<Asked> asked = ask();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 3000 57000 0 0 1700000000000001");
    grant(asked, 0, 2, 3, 4);
    assertThat(gathered()).containsOnlyOnce("h2 QUARANTINED it came back without its data");
    nodes.take();

    ask("b");
    asked = nodes.take();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 0 60000 0 1 1700000005000000");
    grant(asked, 0, 2, 3, 4);
    assertThat(gathered())
        .containsOnlyOnce("h2 QUARANTINED it is new or came back without its data");
    nodes.take();

    ask("c");
    asked = nodes.take();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 10 59990 0 1 1700000005000000");
    grant(asked, 0, 2, 3, 4);
    assertThat(gathered()).noneMatch(text -> text.startsWith("h2 QUARANTINED it"));
  }

  @Test
  @Rule("NODES-5")
  @DisplayName("a quarantine that clients with other clocks restart is reported once")
  void quarantineThatClientsWithOtherClocksRestartIsReportedOnce() {
    List<Asked> asked = ask();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 0 60000 0 1 1700000000000001");
    grant(asked, 0, 2, 3, 4);
    assertThat(gathered()).haveExactly(1, quarantined());
    nodes.take();

    ask("b");
    asked = nodes.take();
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 0 60000 0 1 1700000000400001");
    grant(asked, 0, 2, 3, 4);
    assertThat(gathered()).haveExactly(0, quarantined());
  }

  private static Condition<String> quarantined() {
    return new Condition<>(text -> text.startsWith("h2 QUARANTINED it"), "h2 in quarantine");
  }

  @Test
  @Rule("NODES-5")
  @DisplayName("a node that reports a quarantine after it went down comes back as up")
  void quarantineOfANodeThatIsDownIsForgotten() {
    List<Asked> asked = ask();
    grant(asked, 0, 2, 3, 4);
    nodes.unreachable(1, new IllegalStateException("refused"));
    nodes.breakConnection(1);
    time.advance(Duration.ofMillis(100));
    asked.get(1).round().error(1, "QUARANTINE " + FENCE + " 3000 57000 0 0 1700000000000001");
    assertThat(gathered()).contains("h2 DOWN refused");

    nodes.unreachable(1, null);
    time.advance(Duration.ofSeconds(1));

    assertThat(gathered()).containsExactly("h2 UP ");
    assertThat(locks.nodes().get(1).state()).isEqualTo(State.UP);
  }

  @Test
  @Rule("NODES-4")
  @DisplayName("ping counts the nodes that vote, or will vote when they are asked")
  void pingCountsNodesThatVote() {
    assertThat(pinged(VOTES, VOTES, OVER, QUARANTINED, QUARANTINED)).isTrue();
    assertThat(pinged(VOTES, VOTES, QUARANTINED, QUARANTINED, QUARANTINED)).isFalse();
    assertThatThrownBy(() -> pinged(VOTES, "NOPERM no", "NOPERM no", "NOPERM no", VOTES))
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("NOPERM");
  }

  @Test
  @Rule("NODES-4")
  @DisplayName("ping is false while no node votes and some node is down")
  void pingIsFalseWhileNoQuarantineCanEnd() {
    assertThat(pinged(OVER, OVER, OVER, new IllegalStateException("away"), OVER)).isFalse();
    assertThat(pinged(OVER, OVER, OVER, OVER, OVER)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5})
  @Rule("NODES-4")
  @DisplayName("ping is true while a quorum answers, and false while no node does")
  void pingIsFalseWithoutAQuorum(int size) {
    ScriptedNodes some = new ScriptedNodes(size);
    LockPrimitive redlock =
        Redlock.open(some, time.options()).unwrap(LockPrimitive.class).orElseThrow();
    CompletableFuture<Boolean> ping = redlock.ping("p");
    some.answer(asked -> asked.round().reply(asked.node(), VOTES));
    assertThat(ping).isCompletedWithValue(true);
    for (int node = 0; node < size; node++) {
      some.unreachable(node, new IllegalStateException("refused"));
      some.breakConnection(node);
    }
    time.advance(Duration.ofMillis(100));

    assertThat(redlock.ping("p")).isCompletedWithValue(false);
  }

  @Test
  @Rule("NODES-4")
  @DisplayName("ping waits for a first connection that a quorum needs")
  void pingWaitsForAFirstConnectionThatAQuorumNeeds() {
    ScriptedNodes some = new ScriptedNodes(3);
    CompletableFuture<Void> connected = new CompletableFuture<>();
    some.connecting(2, connected);
    LockPrimitive redlock =
        Redlock.open(some, time.options().connectLazily())
            .unwrap(LockPrimitive.class)
            .orElseThrow();
    CompletableFuture<Boolean> ping = redlock.ping("p");
    time.advance(Duration.ofMillis(500));
    some.answer(
        asked -> asked.round().reply(asked.node(), asked.node() == 0 ? VOTES : QUARANTINED));
    assertThat(ping).isNotDone();

    connected.complete(null);

    some.answer(asked -> asked.round().reply(asked.node(), VOTES));
    assertThat(ping).isCompletedWithValue(true);
  }

  private boolean pinged(Object... replies) {
    CompletableFuture<Boolean> ping = locks.unwrap(LockPrimitive.class).orElseThrow().ping("p");
    List<Asked> asked = nodes.take();
    for (int node = 0; node < replies.length; node++) {
      if (replies[node] instanceof String error) {
        asked.get(node).round().error(node, error);
      } else {
        asked.get(node).round().reply(node, replies[node]);
      }
    }
    return ping.join();
  }
}
