package dev.holdfast.redlock.internal.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Logs;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections that break, and the commands that are held back until they are replaced. */
class ReplacedConnectionsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  @AutoClose private final Logs logs = new Logs();

  @Test
  @Rule("FAULT-5")
  @DisplayName(
      "a connection that broke is replaced at once, and commands are held" + " back meanwhile")
  void brokenConnectionIsReplacedAtOnce() {
    LockManager locks = open();
    nodes.breakConnection(0);
    nodes.breakConnection(1);
    var lease = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(nodes.take()).extracting(Asked::node).containsExactly(2);
    time.advance(Duration.ZERO);

    assertThat(nodes.connects()).containsExactly(0, 1, 2, 0, 1);
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    assertThat(lease.join()).isPresent();
    assertThat(logs.messages()).isEmpty();
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("connections that are back within quorumTimeout cost no attempt")
  void connectionsThatAreBackInTimeCostNoAttempt() {
    LockManager locks = open();
    CompletableFuture<Void> slow = new CompletableFuture<>();
    for (int node = 0; node < 3; node++) {
      nodes.connecting(node, slow);
      nodes.breakConnection(node);
    }
    var lease = locks.tryAcquireAsync(LockRequest.of("a", Duration.ofSeconds(30)));
    time.advance(RedlockOptions.DEFAULT_QUORUM_TIMEOUT.minusMillis(1));
    slow.complete(null);
    nodes.answerAll(a -> a.round().reply(a.node(), "OK"));

    assertThat(lease.join()).isPresent();
    assertThat(logs.messages()).isEmpty();
  }

  @Test
  @Rule("FAULT-8")
  @DisplayName("an attempt waits for a first connection that a quorum needs, for quorumTimeout")
  void anAttemptWaitsForAFirstConnectionThatAQuorumNeeds() {
    CompletableFuture<Void> slow = new CompletableFuture<>();
    nodes.connecting(2, slow);
    LockManager locks = Redlock.open(nodes, time.plainOptions().connectLazily());
    LockRequest request = LockRequest.of("a", Duration.ofSeconds(30));
    var first = locks.tryAcquireAsync(request);
    time.advance(RedlockOptions.DEFAULT_NODE_TIMEOUT);
    nodes.answer(
        a -> {
          if (a.node() == 0) {
            a.round().reply(0, "OK");
          } else {
            a.round().error(1, "OOM command not allowed when used memory > 'maxmemory'");
          }
        });
    time.advance(RedlockOptions.DEFAULT_NODE_TIMEOUT);
    assertThat(first).isNotDone();

    slow.complete(null);

    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    assertThat(first.join()).isPresent();
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("a connection that broke and is not back within quorumTimeout is down")
  void aConnectionThatIsNotBackInTimeIsDown() {
    Duration quorumTimeout = RedlockOptions.DEFAULT_QUORUM_TIMEOUT;
    LockManager locks = open();
    nodes.silent(0);
    nodes.silent(1);
    nodes.breakConnection(0);
    nodes.breakConnection(1);
    time.advance(quorumTimeout.minusMillis(1));
    var first = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThat(first).isNotDone();
    time.advance(Duration.ofMillis(1));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThat(first).isCompletedExceptionally();
    var second = locks.tryAcquireAsync(LockRequest.of("b", SECOND));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(second).isCompletedExceptionally();
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 0, 1);
    assertThat(nodes.disconnects()).isEmpty();
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("held-back rounds that fail do not end the next connection")
  void failedHeldBackRoundsDoNotEndTheNextConnection() {
    LockManager locks = open();
    CompletableFuture<Void> slow = new CompletableFuture<>();
    nodes.connecting(2, slow);
    nodes.breakConnection(2);
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    locks.tryAcquireAsync(LockRequest.of("b", SECOND));
    nodes.answer(a -> a.round().reply(a.node(), a.node() == 0 ? "OK" : null));
    nodes.beforeSubmitting(round -> slow.complete(null)); // up between the first and the second
    time.advance(RedlockOptions.DEFAULT_QUORUM_TIMEOUT);

    assertThat(slow).isDone();
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 2);
    assertThat(nodes.disconnects()).isEmpty();
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("a failure between the ends of two connections holds later rounds back")
  void aFailureBetweenTheEndsOfTwoConnectionsHoldsLaterRoundsBack() {
    nodes.withoutScripts();
    LockManager locks = open();
    nodes.beforeDisconnecting(
        () -> {
          locks.tryAcquireAsync(LockRequest.of("a", SECOND));
          locks.tryAcquireAsync(LockRequest.of("b", SECOND));
        });
    nodes.breakConnection(0);
    time.advance(Duration.ZERO);

    assertThat(nodes.take())
        .filteredOn(a -> a.node() == 0)
        .extracting(a -> a.command().words().get(1))
        .containsExactly("b");
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("rounds between a failure and the end of its connection are held back")
  void roundsWaitWhileAConnectionEnds() {
    LockManager locks = open();
    var first = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    nodes.answer(a -> a.round().failure(a.node(), new IllegalStateException("connection reset")));
    assertThat(first).isCompletedExceptionally();
    var second = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(nodes.take()).isEmpty();
    time.advance(Duration.ZERO);

    assertThat(nodes.connects()).containsExactly(0, 1, 2, 0, 1, 2);
    nodes.answerAll(
        a -> a.round().reply(a.node(), a.name().equals("SET") ? "OK" : (Object) Scripts.MISSING));
    assertThat(second.join()).isPresent();
    assertThat(logs.messages()).isEmpty();
  }

  @Test
  @Rule("FAULT-3")
  @DisplayName("a node whose limits cannot be scheduled is connected again")
  void aNodeWhoseLimitsCannotBeScheduledIsConnectedAgain() {
    AtomicBoolean fails = new AtomicBoolean();
    Scheduler failing =
        new Scheduler() {
          @Override
          public Task schedule(long delayNanos, Runnable task) {
            if (fails.getAndSet(false)) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            return time.schedule(delayNanos, task);
          }

          @Override
          public void close() {}
        };
    LockManager locks = Redlock.open(nodes, time.plainOptions().scheduler(failing));
    nodes.silent(0);
    nodes.breakConnection(0);
    fails.set(true);
    assertThatThrownBy(() -> time.advance(Duration.ZERO)).isInstanceOf(OutOfMemoryError.class);

    time.advance(SECOND);

    assertThat(nodes.connects()).containsExactly(0, 1, 2, 0, 0);
    assertThat(locks.nodes()).extracting(LockNode::state).contains(LockNode.State.DOWN);
  }

  @Test
  @DisplayName("a connection that breaks repeatedly is replaced once a second")
  void connectionThatBreaksAgainIsReplacedLater() {
    open();
    nodes.breakConnection(1);
    time.advance(Duration.ZERO);
    nodes.breakConnection(1);
    time.advance(Duration.ofMillis(999));
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 1);
    time.advance(Duration.ofMillis(1));
    assertThat(nodes.connects()).containsExactly(0, 1, 2, 1, 1);
    assertThat(logs.messages()).hasSize(2);
  }

  @Test
  @DisplayName("a SET that was held back until no caller waits for it is not sent")
  void outdatedSetIsNotSent() {
    LockManager locks = open();
    nodes.breakConnection(0);
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    nodes.answerAll(a -> a.round().reply(a.node(), a.name().equals("SET") ? null : (Object) 2L));
    time.advance(Duration.ZERO);
    assertThat(nodes.take()).extracting(Asked::name).doesNotContain("SET").contains("EVALSHA");
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("a release that a node refuses is sent again while its connection lasts")
  void aRefusedReleaseIsSentAgain() {
    LockManager locks = open();
    var lease = locks.tryAcquireAsync(LockRequest.of("a", Duration.ofSeconds(30)));
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    var released = lease.join().orElseThrow().releaseAsync();
    nodes.answer(
        a -> {
          if (a.node() == 2) {
            a.round().error(2, "BUSY Redis is busy running a script");
          } else {
            a.round().reply(a.node(), Scripts.MINE);
          }
        });
    assertThat(released).isCompletedWithValue(true);
    assertThat(nodes.take()).isEmpty();
    time.advance(SECOND);
    assertThat(nodes.take()).extracting(Asked::node).containsExactly(2);
  }

  @Test
  @DisplayName(
      "commands that wait for a connection that cannot be replaced fail with the" + " cause")
  void heldBackRoundsFailWithoutAConnection() {
    LockManager locks = open();
    nodes.breakConnection(0);
    nodes.breakConnection(1);
    nodes.unreachable(0, new IllegalStateException("connection refused"));
    nodes.unreachable(1, new IllegalStateException("connection refused"));
    var lease = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    time.advance(Duration.ZERO);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThatThrownBy(lease::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll("h1:6379: connection refused", "h2:6379: connection refused");
  }

  private LockManager open() {
    return Redlock.open(nodes, time.plainOptions());
  }
}
