package dev.holdfast.redlock.internal.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Connections on which a node does not answer in time, in a time that the test moves. */
class SilentConnectionsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  @AutoClose private final Logs logs = new Logs();

  @Test
  @DisplayName("a silent connection is dropped once and replaced")
  void aSilentConnectionIsDropped() {
    LockManager locks = open();
    nodes.silent(2);
    askAllBut(2, locks, Duration.ofMillis(1_500));
    assertThat(nodes.disconnects()).containsExactly(2);
    assertThat(logs.messages()).singleElement().asString().contains("h3:6379", "answers nothing");
  }

  @Test
  @DisplayName("a connection that does not keep up is dropped and replaced")
  void aConnectionOfANodeThatDoesNotKeepUpIsDropped() {
    LockManager locks = open();
    Deque<Asked> unanswered = new ArrayDeque<>();
    while (nodes.disconnects().isEmpty() && unanswered.size() < 60_000) {
      askMoreThanIsAnswered(locks, unanswered);
    }
    assertThat(nodes.disconnects()).containsExactly(2);
    assertThat(unanswered).hasSizeBetween(50_000, 56_000);
    assertThat(logs.messages())
        .first()
        .asString()
        .contains("h3:6379", "leaves 50000 commands unanswered");
    time.advance(SECOND);
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 2);
  }

  @Test
  @DisplayName("a node that catches up keeps its connection, however many answers are due")
  void nodeThatCatchesUpKeepsItsConnection() {
    LockManager locks = open();
    Deque<Asked> unanswered = new ArrayDeque<>();
    while (unanswered.size() < 51_000) {
      askMoreThanIsAnswered(locks, unanswered);
    }
    for (int answer = 0; answer < 2_000; answer++) {
      refuse(unanswered.remove());
    }
    time.advance(SECOND);
    assertThat(nodes.disconnects()).isEmpty();
  }

  /** The node that does not keep up is the last one, and answers 1 of 200. */
  private void askMoreThanIsAnswered(LockManager locks, Deque<Asked> unanswered) {
    for (int attempt = 0; attempt < 100; attempt++) {
      locks.tryAcquireAsync(LockRequest.of("a", SECOND));
      nodes.answerAll(
          a -> {
            if (a.node() == 2) {
              unanswered.add(a);
            } else {
              refuse(a);
            }
          });
    }
    refuse(unanswered.remove());
    time.advance(Duration.ofMillis(2));
  }

  private static void refuse(Asked asked) {
    asked.round().reply(asked.node(), asked.name().equals("SET") ? null : Scripts.OTHER);
  }

  @Test
  @Rule("FAULT-3")
  @DisplayName("a connection waits for a node that hangs, so that it is back at once")
  void connectionWaitsForANodeThatHangs() {
    LockManager locks = open();
    nodes.silent(2);
    askAllBut(2, locks, Duration.ofMillis(1_200));
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 2);
    for (int half = 0; half < 2; half++) { // the granted locks are lost, and released
      time.advance(Duration.ofMillis(500));
      nodes.answerAll(SilentConnectionsTest::refuse);
    }
    time.advance(Duration.ofMillis(799));
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 2);
    time.advance(Duration.ofMillis(100));
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 2, 2);
  }

  @Test
  @DisplayName(
      "a stall of this process, in which no answer was read, is no silence of the" + " nodes")
  void stallOfThisProcessIsNoSilence() {
    List<Asked> unread = askBeforeAndAfterAStall();
    unread.forEach(a -> a.round().reply(a.node(), "OK"));
    time.advance(SECOND.minusMillis(1)); // nor do they answer the releases
    assertThat(nodes.disconnects()).isEmpty();
  }

  @Test
  @DisplayName("after a stall of this process, a node has time for one more answer")
  void afterAStallANodeHasTimeForOneMoreAnswer() {
    List<Asked> unread = askBeforeAndAfterAStall();
    time.leap(Duration.ofSeconds(3));
    time.advance(Duration.ZERO);
    assertThat(nodes.disconnects()).isEmpty();
    unread.forEach(a -> a.round().reply(a.node(), "OK"));
    time.advance(SECOND);
    assertThat(nodes.disconnects()).isEmpty();
  }

  /** Returns the commands whose answers this process did not read before its stall. */
  private List<Asked> askBeforeAndAfterAStall() {
    LockManager locks = open();
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    List<Asked> unread = nodes.take();
    time.leap(Duration.ofSeconds(3));
    locks.tryAcquireAsync(LockRequest.of("b", SECOND));
    return unread;
  }

  private void askAllBut(int hung, LockManager locks, Duration forSoLong) {
    for (int attempt = 0; attempt < forSoLong.toMillis() / 50; attempt++) {
      locks.tryAcquireAsync(LockRequest.of("a" + attempt, SECOND));
      locks.tryAcquireAsync(LockRequest.of("b" + attempt, SECOND));
      nodes.take().stream()
          .filter(a -> a.node() != hung)
          .forEach(a -> a.round().reply(a.node(), "OK"));
      time.advance(Duration.ofMillis(50));
    }
  }

  private LockManager open() {
    return Redlock.open(nodes, time.plainOptions());
  }
}
