package dev.holdfast.redlock;

import static dev.holdfast.redlock.ScriptedNodes.grant;
import static dev.holdfast.redlock.ScriptedNodes.refuse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One timeout for stragglers, another for a quorum of answers, in a time that the test moves. */
class TwoTimeoutsTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);
  private static final Duration QUORUM_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration TICK = Duration.ofMillis(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(5);

  @Test
  @Rule("FAULT-8")
  @DisplayName("healthy nodes that answer within quorumTimeout are no outage")
  void slowNodesGrant() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    time.advance(QUORUM_TIMEOUT.minus(TICK));
    grant(asked, 0, 1, 2);

    assertThat(future.join()).isPresent();
  }

  @Test
  @Rule("FAULT-8")
  @DisplayName("answers that were not read while this process stood still count")
  void aStallOfThisProcessIsNoOutage() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    time.leap(NODE_TIMEOUT.multipliedBy(10));
    time.advance(Duration.ZERO);
    grant(asked, 0, 1, 2);

    assertThat(future.join()).isPresent();
  }

  @Test
  @Rule("FAULT-2")
  @DisplayName("stragglers are waited for until nodeTimeout after the sending")
  void stragglersAreWaitedForUntilNodeTimeout() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    time.advance(Duration.ofMillis(10));
    grant(asked, 0, 1);
    refuse(asked, 2);
    time.advance(NODE_TIMEOUT.minusMillis(10).minus(TICK));
    assertThat(nodes.pending()).isEmpty();
    time.advance(TICK);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(future.join()).isEmpty();
  }

  @Test
  @Rule("FAULT-2")
  @DisplayName("stragglers of a slow quorum are waited for once more as long as it took")
  void stragglersOfASlowQuorumAreWaitedForOnceMoreAsLongAsItTook() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    time.advance(Duration.ofMillis(80));
    grant(asked, 0, 1);
    refuse(asked, 2);
    time.advance(Duration.ofMillis(79));
    grant(asked, 3);

    assertThat(future.join()).isPresent();
  }

  @Test
  @Rule("FAULT-2")
  @DisplayName("errors are no answers: a quorum of them sets no straggler's deadline")
  void errorsAreNoAnswers() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    asked.get(2).round().error(2, "OOM command not allowed");
    time.advance(QUORUM_TIMEOUT.minus(TICK));
    assertThat(future).isNotDone();
    grant(asked, 3);

    assertThat(future.join()).isPresent();
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("once no quorum can answer, the pending nodes are stragglers")
  void onceNoQuorumCanAnswerPendingNodesAreStragglers() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    for (int node : List.of(0, 1, 2)) {
      asked.get(node).round().error(node, "OOM command not allowed");
    }
    time.advance(NODE_TIMEOUT);

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("h4:6379: no answer within 50 ms");
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-5")
  @DisplayName("an attempt waits no longer than a grant would be valid, and says so")
  void anAttemptWaitsNoLongerThanItsValidity() {
    CompletableFuture<Optional<Lease>> future =
        open().tryAcquireAsync(LockRequest.of("a", Duration.ofMillis(200)));
    time.advance(Duration.ofMillis(195));
    assertThat(future).isNotDone();
    time.advance(TICK);

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("within 196 ms, which is all that a ttl of 200 ms leaves");
  }

  @Test
  @Rule("FAULT-8")
  @DisplayName(
      "a ttl that leaves no time for answers makes no outage for waiters" + " in the queue")
  void outageByAShortTtlIsNotThatOfOtherWaiters() {
    LockManager locks = open();
    Duration wait = Duration.ofMillis(10);
    CompletableFuture<Optional<Lease>> first =
        locks.tryAcquireAsync(LockRequest.of("a", Duration.ofMillis(5)).waitAtMost(wait));
    CompletableFuture<Optional<Lease>> behind =
        locks.tryAcquireAsync(LockRequest.of("a", TTL).waitAtMost(wait));
    time.advance(wait);

    assertThatThrownBy(first::join).hasCauseInstanceOf(LockOutageException.class);
    assertThat(behind).isCompletedWithValue(Optional.empty());
  }

  @Test
  @Rule("WAIT-15")
  @DisplayName("nodes that were far away the last time are no outage for waiters" + " in the queue")
  void distantNodesAreNoOutageForQueuedWaiters() {
    LockManager locks = open();
    locks.tryAcquireAsync(LockRequest.of("a", TTL).waitAtMost(TTL));
    List<Asked> asked = nodes.take();
    time.advance(Duration.ofMillis(80));
    refuse(asked, 0, 1, 2, 3, 4);
    time.advance(Duration.ofMillis(80));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.OTHER));
    while (nodes.pending().isEmpty()) {
      time.advance(TICK);
    }
    CompletableFuture<Optional<Lease>> inTime =
        locks.tryAcquireAsync(LockRequest.of("a", TTL).waitAtMost(Duration.ofMillis(159)));
    CompletableFuture<Optional<Lease>> tooLate =
        locks.tryAcquireAsync(LockRequest.of("a", TTL).waitAtMost(Duration.ofMillis(161)));
    time.advance(Duration.ofMillis(161));

    assertThat(inTime).isCompletedWithValue(Optional.empty());
    assertThatThrownBy(tooLate::join).hasCauseInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("FAULT-1")
  @DisplayName("after quorumTimeout of silence later calls do not wait for the node again")
  void silentNodesAreDisconnectedWhenARoundExpires() {
    LockManager locks = open();
    for (int node : List.of(0, 1, 2)) {
      nodes.silent(node);
    }
    CompletableFuture<Optional<Lease>> first = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    nodes.take();
    time.advance(QUORUM_TIMEOUT);
    assertThat(first).isCompletedExceptionally();
    assertThat(nodes.disconnects()).contains(0, 1, 2);

    CompletableFuture<Optional<Lease>> second = locks.tryAcquireAsync(LockRequest.of("b", TTL));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThat(second).isCompletedExceptionally();
  }

  @Test
  @Rule("FAULT-1")
  @DisplayName("nodes that become silent later are disconnected in time")
  void laterSilentNodesAreDisconnectedInTime() {
    LockManager locks = open();
    locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> before = nodes.take();
    var first = locks.tryAcquireAsync(LockRequest.of("b", TTL));
    nodes.take();
    time.advance(TICK);
    grant(before, 0, 1, 2);
    for (int node : List.of(0, 1, 2)) {
      nodes.silent(node);
    }
    time.advance(QUORUM_TIMEOUT.minus(TICK));
    assertThat(first).isCompletedExceptionally();
    assertThat(nodes.disconnects()).doesNotContain(0, 1, 2);
    var second = locks.tryAcquireAsync(LockRequest.of("c", TTL));
    time.advance(TICK);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(nodes.disconnects()).contains(0, 1, 2);
    assertThat(second).isCompletedExceptionally();
  }

  @Test
  @DisplayName("closing does not wait for quorumTimeout again after an operation that has")
  void closingWaitsForQuorumTimeoutOnce() {
    Duration lessThanASecond = Duration.ofMillis(900); // after which connections are given up
    LockManager locks = Redlock.open(nodes, time.plainOptions().quorumTimeout(lessThanASecond));
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    time.advance(lessThanASecond);
    assertThat(future).isCompletedExceptionally();

    long start = System.nanoTime();
    locks.close();

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(lessThanASecond);
  }

  @Test
  @Rule("FAULT-8")
  @DisplayName("a round that expires late checks its nodes once more")
  void roundThatExpiresLateDisconnectsNoNode() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    time.leap(QUORUM_TIMEOUT.multipliedBy(3));
    time.advance(Duration.ZERO);
    assertThat(future).isCompletedExceptionally();
    asked.forEach(a -> a.round().reply(a.node(), "OK"));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    time.advance(QUORUM_TIMEOUT);

    assertThat(nodes.disconnects()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @DisplayName("a release follows an extension that hangs, which then sends nothing more")
  void aReleaseFollowsAnExtensionThatHangs() {
    CompletableFuture<Optional<Lease>> future = ask();
    grant(nodes.take(), 0, 1, 2, 3, 4);
    Lease lease = future.join().orElseThrow();
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    List<Asked> extended = nodes.take();
    CompletableFuture<Boolean> release = lease.releaseAsync();
    List<Asked> released = nodes.take();
    assertThat(extension).isCompletedExceptionally();
    extended.get(0).round().error(0, "NOSCRIPT No matching script");
    assertThat(nodes.take()).as("the source would put the key back").isEmpty();
    released.forEach(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(release.join()).isTrue();
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return open().tryAcquireAsync(LockRequest.of("a", TTL));
  }

  private LockManager open() {
    return Redlock.open(nodes, time.plainOptions());
  }
}
