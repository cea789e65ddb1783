package dev.holdfast.redlock.internal.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Commands that fail when their connection has been replaced. A fake driver fails them, because no
 * real server makes a driver late on demand.
 */
class LateFailuresTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final int DROPPED = 2;

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  private final LockManager locks = Redlock.open(nodes, time.plainOptions());
  private final List<Asked> unanswered = new ArrayList<>();

  @Test
  @Rule("FAULT-5")
  @DisplayName("a late failure of a dropped connection does not end the next one")
  void lateFailureOfADroppedConnectionDoesNotEndTheNextOne() {
    dropSilentConnection();
    locks.tryAcquireAsync(LockRequest.of("later", TTL));
    List<Asked> overTheNext = nodes.take();
    unanswered.forEach(LateFailuresTest::fail);
    time.advance(Duration.ZERO);

    assertThat(unanswered).isNotEmpty();
    assertThat(overTheNext).extracting(Asked::node).contains(DROPPED);
    assertThat(nodes.disconnects()).containsExactly(DROPPED);
    assertThat(nodes.connects()).containsExactly(0, 1, DROPPED, DROPPED);
    assertThat(locks.nodes().get(DROPPED).cause()).isEmpty();
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("a failure of the next connection ends it also after late failures")
  void failureOfTheNextConnectionEndsIt() {
    dropSilentConnection();
    locks.tryAcquireAsync(LockRequest.of("later", TTL));
    unanswered.forEach(LateFailuresTest::fail);
    nodes.answer(LateFailuresTest::fail);
    time.advance(Duration.ZERO);

    assertThat(nodes.disconnects()).startsWith(DROPPED).contains(0, 1).hasSize(4);
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("a late failure to load a script does not end the next connection")
  void lateFailureToLoadAScriptDoesNotEndTheNextConnection() {
    Asked taught = teachAfterTheDecision();
    nodes.breakConnection(DROPPED);
    time.advance(Duration.ZERO);
    fail(taught);
    time.advance(Duration.ZERO);

    assertThat(taught.node()).isEqualTo(DROPPED);
    assertThat(nodes.disconnects()).isEmpty();
    assertThat(nodes.connects()).containsExactly(0, 1, DROPPED, DROPPED);
  }

  @Test
  @DisplayName("a failure to load a script ends its connection")
  void failureToLoadAScriptEndsItsConnection() {
    fail(teachAfterTheDecision());
    time.advance(Duration.ZERO);

    assertThat(nodes.disconnects()).containsExactly(DROPPED);
  }

  /** Returns the script that a node is taught because it lacked it for a decided extension. */
  private Asked teachAfterTheDecision() {
    var lease = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    nodes.answer(asked -> asked.round().reply(asked.node(), "OK"));
    lease.join().orElseThrow().extendAsync(TTL);
    List<Asked> extended = nodes.take();
    extended.get(0).round().reply(0, Scripts.MINE);
    extended.get(1).round().reply(1, Scripts.MINE);
    nodes.keepTaughtScripts(true);
    extended.get(DROPPED).round().error(DROPPED, "NOSCRIPT No matching script");
    nodes.keepTaughtScripts(false);
    return nodes.take().get(0);
  }

  /** Asks until the node that answers nothing loses its connection, and gets the next one. */
  private void dropSilentConnection() {
    while (nodes.disconnects().isEmpty()) {
      locks.tryAcquireAsync(LockRequest.of("a" + unanswered.size(), TTL));
      nodes.answer(
          asked -> {
            if (asked.node() == DROPPED) {
              unanswered.add(asked);
            } else {
              asked.round().reply(asked.node(), "OK");
            }
          });
      time.advance(Duration.ofMillis(50));
    }
    time.advance(Duration.ZERO);
  }

  private static void fail(Asked asked) {
    asked.round().failure(asked.node(), new IllegalStateException("the connection ended"));
  }
}
