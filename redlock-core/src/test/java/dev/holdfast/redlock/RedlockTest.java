package dev.holdfast.redlock;

import static dev.holdfast.redlock.ScriptedNodes.grant;
import static dev.holdfast.redlock.ScriptedNodes.refuse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The algorithm, message by message, in a time that the test moves. */
class RedlockTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration DRIFT = Duration.ofMillis(102);
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);
  private static final Duration QUORUM_TIMEOUT = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private ScriptedNodes nodes = new ScriptedNodes(5);

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @DisplayName("validity is the ttl less the time since before the first message," + " less drift")
  void validityIsMeasuredFromBeforeTheFirstMessage() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    time.advance(Duration.ofMillis(30));
    grant(asked, 0, 1);
    time.advance(Duration.ofMillis(10));
    grant(asked, 2);

    assertThat(lease(future).remaining()).isEqualTo(TTL.minus(DRIFT).minusMillis(40));
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @DisplayName("the third of five votes decides, and the rest changes nothing")
  void aQuorumDecides() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0, 3);
    assertThat(future).isNotDone();
    grant(asked, 4);
    Lease lease = lease(future);
    asked.get(1).round().reply(1, null);
    asked.get(2).round().failure(2, new IllegalStateException("gone"));

    assertThat(lease.isHeld()).isTrue();
    assertThat(nodes.take()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule({"VAL-2", "VAL-5"})
  @DisplayName("a machine that slept through the votes has no lock")
  void aMachineThatSleptHasSpentItsValidity() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    time.sleepMachine(TTL);
    grant(asked, 0, 1, 2, 3, 4);
    nodes.answerAll(RedlockTest::mine);

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("'a' was granted when its ttl of 10000 ms was over");
  }

  @Test
  @Rule({"REL-2", "ACQ-3"})
  @DisplayName("a failed attempt is released on every node, the silent ones too")
  void failedAttemptIsReleasedOnEveryNode() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    refuse(asked, 2, 3);
    time.advance(NODE_TIMEOUT);

    List<Asked> released = nodes.take();
    assertThat(released).extracting(Asked::node).containsExactly(0, 1, 2, 3, 4);
    assertThat(released).extracting(Asked::name).containsOnly("EVALSHA");
    assertThat(released.get(4).command().words()).contains(tokenOf(asked.get(0)));
    reply(released, Scripts.MINE, 0, 1);
    reply(released, Scripts.OTHER, 2, 3);
    assertThat(future.join()).isEmpty();
  }

  @Test
  @DisplayName("the result of a failed attempt waits only for the release by its voters")
  void refusalWaitsForTheReleaseByItsVoters() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    refuse(asked, 1, 2, 3);
    List<Asked> released = nodes.take();
    reply(released, Scripts.MINE, 0);
    reply(released, Scripts.OTHER, 1, 2);
    assertThat(future).isNotDone();
    reply(released, Scripts.OTHER, 3);

    assertThat(future.join()).isEmpty();
  }

  @Test
  @Rule({"ERR-1", "ERR-2"})
  @DisplayName("without a quorum of answers it is an outage that names each node")
  void noQuorumOfAnswersIsAnOutage() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    refuse(asked, 1);
    asked.get(2).round().error(2, "LOADING Redis is loading the dataset in memory");
    asked.get(3).round().failure(3, new IllegalStateException("connection reset"));
    time.advance(QUORUM_TIMEOUT);
    nodes.answerAll(RedlockTest::mine);

    assertThatThrownBy(future::join)
        .cause()
        .isInstanceOfSatisfying(
            LockOutageException.class,
            e -> assertThat(e.failures()).containsOnlyKeys("h3:6379", "h4:6379", "h5:6379"))
        .hasMessageContainingAll(
            "2 of 5", "LOADING", "connection reset", "h5:6379: no answer within 1000 ms");
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("if correcting misconfigured nodes makes a quorum, it is a configuration" + " error")
  void mistakesThatPreventAQuorumAreConfigurationErrors() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    for (int node : List.of(2, 3, 4)) {
      asked.get(node).round().error(node, "NOPERM No permissions to access a key");
    }
    nodes.answerAll(RedlockTest::mine);

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("h3:6379", "NOPERM");
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("if correcting misconfigured nodes makes no quorum, it is an outage")
  void mistakesThatPreventNoQuorumAreAnOutage() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    asked.get(1).round().error(1, "NOPERM No permissions to access a key");
    for (int node : List.of(2, 3, 4)) {
      asked.get(node).round().error(node, "LOADING Redis is loading the dataset in memory");
    }
    nodes.answerAll(RedlockTest::mine);

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll("1 of 5", "h2:6379: NOPERM");
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("a reply of an unexpected kind is no vote")
  void anUnexpectedReplyIsNoVote() {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    asked.get(2).round().reply(2, List.of("OK"));
    asked.get(3).round().reply(3, 1L);
    asked.get(4).round().reply(4, "QUEUED");
    nodes.answerAll(RedlockTest::mine);

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContainingAll("h3:6379: a reply that is no vote", "QUEUED");
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @DisplayName("every attempt has a token of its own")
  void everyAttemptHasItsOwnToken() {
    LockManager locks = open();
    Set<String> tokens = new HashSet<>();
    for (int attempt = 0; attempt < 100; attempt++) {
      CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
      List<Asked> asked = nodes.take();
      tokens.add(tokenOf(asked.get(0)));
      refuse(asked, 0, 1, 2, 3, 4);
      nodes.answerAll(RedlockTest::other);
      assertThat(future.join()).isEmpty();
    }
    assertThat(tokens).hasSize(100).allMatch(t -> t.matches("me:[0-9a-f]{40}"));
  }

  @Test
  @DisplayName("a script that a node does not know is sent with its source")
  void anUnknownScriptIsSentWithItsSource() {
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    nodes.answer(a -> a.round().error(a.node(), "NOSCRIPT No matching script"));
    List<Asked> again = nodes.take();
    assertThat(again).extracting(Asked::name).containsOnly("EVAL").hasSize(5);
    again.forEach(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(released.join()).isTrue();
  }

  @Test
  @DisplayName("a driver that fails at once leads to no report under the monitor of a round")
  void aResultIsReportedUnderNoMonitorOfItsRound() {
    Lease lease = acquired(open());
    CompletableFuture<Void> extension = lease.extendAsync(TTL);
    List<Asked> asked = nodes.take();
    CompletableFuture<Boolean> isFree =
        extension.handle((done, failure) -> isFree(asked.get(4).round()));
    reply(asked, Scripts.MINE, 0, 1);
    reply(asked, Scripts.MISSING, 2, 3);
    nodes.beforeSubmitting(
        round ->
            round.forEachNode(
                node -> round.failure(node, new IllegalStateException("connection reset"))));

    asked.get(4).round().error(4, "NOSCRIPT No matching script");

    assertThat(isFree).isCompletedWithValue(true);
  }

  /** Returns whether another thread gets the monitor of a round now. */
  private static boolean isFree(Round round) {
    Thread other = new Thread(round::isDecided, "other");
    other.start();
    try {
      other.join(2_000);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return !other.isAlive();
  }

  @Test
  @Rule("EXT-7")
  @DisplayName("a node that always answers last loads the script, but touches no key")
  void decidedExtensionLoadsItsScriptButIsNotSentAgain() {
    Lease lease = acquired(open());
    var extended = lease.extendAsync(TTL);
    List<Asked> asked = nodes.take();
    reply(asked, Scripts.MINE, 0, 1, 2);
    extended.join();
    nodes.notified();
    asked.get(3).round().error(3, "NOSCRIPT No matching script");

    assertThat(nodes.take()).isEmpty();
    List<Asked> notified = nodes.notified();
    assertThat(notified).extracting(Asked::node).containsExactly(3);
    assertThat(notified.get(0).command().words())
        .containsExactly("EVAL", Scripts.EXTEND.plain().source(), "0", "", "0");
  }

  @Test
  @DisplayName(
      "the source of a release is sent even after the decision, so that no key is" + " left")
  void sourceOfADecidedReleaseIsSent() {
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    List<Asked> asked = nodes.take();
    reply(asked, Scripts.MINE, 0, 1, 2);
    assertThat(released.join()).isTrue();
    asked.get(3).round().error(3, "NOSCRIPT No matching script");
    assertThat(nodes.take()).extracting(Asked::name).containsExactly("EVAL");
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("a release that a broken connection lost is sent once more on the" + " next one")
  void unansweredReleaseIsSentOnTheNextConnection() {
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    nodes.answer(
        a -> {
          if (a.node() != 2) {
            a.round().reply(a.node(), Scripts.MINE);
          } else {
            a.round().failure(2, new IllegalStateException("connection reset"));
          }
        });
    nodes.breakConnection(2);
    assertThat(released.join()).isTrue();
    time.advance(Duration.ofSeconds(1));

    List<Asked> pending = nodes.take();
    assertThat(pending).extracting(Asked::node).containsExactly(2);
    assertThat(pending.get(0).command().words()).contains(lease.token());
    pending.get(0).round().reply(2, Scripts.MINE);
    nodes.breakConnection(2);
    time.advance(Duration.ofSeconds(1));
    assertThat(nodes.take()).isEmpty();
  }

  @Test
  @Rule({"ACQ-3", "REL-2"})
  @DisplayName("closing lets a release reach a node that does not know the script")
  void closingLetsTheLastReleaseBeAnswered() throws InterruptedException {
    LockManager locks = open();
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    grant(nodes.take(), 0, 1, 2, 3, 4);
    future.join().orElseThrow().releaseAsync();
    List<Asked> releases = nodes.take();
    reply(releases, Scripts.MINE, 0, 1, 2, 3);

    Thread closing = new Thread(locks::close);
    closing.start();
    await().until(() -> closing.getState() != Thread.State.RUNNABLE);
    assertThat(nodes.isClosed()).isFalse();
    releases.get(4).round().error(4, "NOSCRIPT No matching script.");
    Asked again = nodes.take().get(0);
    assertThat(again.name()).isEqualTo("EVAL");
    assertThat(nodes.isClosed()).isFalse();
    again.round().reply(4, Scripts.MINE);

    closing.join();
    assertThat(nodes.isClosed()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-6")
  @DisplayName("a silent node's release is pending, too, once its connection breaks")
  void releaseThatFailsAfterItsDeadlineIsPending() {
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    List<Asked> asked = nodes.take();
    reply(asked, Scripts.MINE, 0, 1, 2, 3);
    assertThat(released.join()).isTrue();
    asked.get(4).round().failure(4, new IllegalStateException("connection reset"));
    nodes.breakConnection(4);
    time.advance(Duration.ofSeconds(1));

    List<Asked> again = nodes.take();
    assertThat(again).extracting(Asked::node).containsExactly(4);
    assertThat(again.get(0).command())
        .as("WAIT-11: it notifies waiters, too")
        .isEqualTo(asked.get(4).command());
  }

  @Test
  @DisplayName("a node that was always down has no pending release")
  void nodeThatWasNeverAskedHasNoPendingRelease() {
    nodes.unreachable(4, new IllegalStateException("connection refused"));
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    nodes.answerAll(RedlockTest::mine);
    assertThat(released.join()).isTrue();
    nodes.unreachable(4, null);
    time.advance(Duration.ofSeconds(2));

    assertThat(nodes.take()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @DisplayName("the new end of validity counts from before the extension was sent")
  void anExtensionIsMeasuredFromBeforeItWasSent() {
    Lease lease = acquired(open());
    time.advance(Duration.ofSeconds(5));
    var extended = lease.extendAsync(TTL);
    List<Asked> asked = nodes.take();
    time.advance(Duration.ofMillis(20));
    reply(asked, Scripts.MINE, 0, 1, 2);
    extended.join();

    assertThat(lease.remaining()).isEqualTo(TTL.minus(DRIFT).minusMillis(20));
  }

  @Test
  @Rule("EXT-5")
  @DisplayName("another token on a quorum is TAKEN, no key on a quorum is REMOVED")
  void quorumOfOtherTokensIsALoss() {
    for (long code : List.of(Scripts.OTHER, Scripts.MISSING)) {
      nodes = new ScriptedNodes(5);
      Lease lease = acquired(open());
      var extended = lease.extendAsync(TTL);
      reply(nodes.take(), code, 0, 1, 2);

      LossReason expected = code == Scripts.OTHER ? LossReason.TAKEN : LossReason.REMOVED;
      assertThatThrownBy(extended::join)
          .cause()
          .isInstanceOfSatisfying(
              LockLostException.class, e -> assertThat(e.reason()).isEqualTo(expected));
      assertThat(lease.isHeld()).isFalse();
      time.advance(Duration.ZERO);
      assertThat(nodes.take()).as("what was put back is released").hasSize(5);
    }
  }

  @Test
  @Rule("EXT-7")
  @DisplayName("a key that is put back is no vote")
  void aKeyThatIsPutBackIsNoVote() {
    Lease lease = acquired(open());
    var extended = lease.extendAsync(TTL);
    List<Asked> asked = nodes.take();
    reply(asked, Scripts.MINE, 0, 1);
    reply(asked, Scripts.MISSING, 2, 3);
    asked.get(4).round().failure(4, new IllegalStateException("gone"));

    assertThatThrownBy(extended::join).hasCauseInstanceOf(LockOutageException.class);
    assertThat(lease.isHeld()).isTrue();
  }

  @Test
  @Rule("EXT-4")
  @DisplayName("an extension without a quorum of answers throws, and the lease is still held")
  void anExtensionInAnOutageLeavesTheLease() {
    Lease lease = acquired(open());
    var extended = lease.extendAsync(TTL);
    nodes.take();
    time.advance(QUORUM_TIMEOUT);

    assertThatThrownBy(extended::join)
        .cause()
        .isInstanceOfSatisfying(
            LockOutageException.class, e -> assertThat(e.isOutcomeUnknown()).isTrue());
    assertThat(lease.remaining()).isEqualTo(TTL.minus(DRIFT).minus(QUORUM_TIMEOUT));
  }

  @Test
  @Rule("REL-3")
  @DisplayName("a release is false when a quorum no longer holds the token")
  void aReleaseThatComesLateIsFalse() {
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    reply(nodes.take(), Scripts.OTHER, 0, 1, 2);
    assertThat(released.join()).isFalse();
    assertThatThrownBy(lease::requireHeld).isInstanceOf(LockLostException.class);
  }

  @Test
  @Rule("REL-4")
  @DisplayName("a release that no quorum answers is an outage, and the lease is over")
  void aReleaseInAnOutageThrows() {
    Lease lease = acquired(open());
    var released = lease.releaseAsync();
    reply(nodes.take(), Scripts.MINE, 0, 1);
    time.advance(QUORUM_TIMEOUT);

    assertThatThrownBy(released::join).hasCauseInstanceOf(LockOutageException.class);
    assertThat(lease.isHeld()).isFalse();
  }

  @Test
  @Rule("VAL-6")
  @DisplayName("a ttl that the allowance for drift uses up is refused before any message")
  void aTtlThatLeavesNoValidityIsRefused() {
    LockManager locks = open();
    assertThatThrownBy(() -> locks.tryAcquire("a", Duration.ofMillis(2)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("2 ms", "drift");
    assertThatThrownBy(() -> locks.tryAcquire("holdfast:guard", TTL))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("keyPrefix");
    assertThat(nodes.take()).isEmpty();
  }

  @Test
  @DisplayName("an attempt has one deadline, and no timer is left behind")
  void noTimerIsLeftBehind() {
    LockManager locks = open();
    Lease lease = acquired(locks);
    var released = lease.releaseAsync();
    nodes.answerAll(RedlockTest::mine);
    released.join();
    time.advance(Duration.ofMillis(500)); // in which the watch for sleeps finds no lease, and ends
    assertThat(time.pendingTimers()).isZero();
  }

  @Test
  @Rule("WAIT-10")
  @DisplayName("a release reaches each node before the next attempt")
  void releaseReachesEachNodeBeforeTheNextAttempt() {
    LockManager locks = open();
    Lease held = acquired(locks);
    CompletableFuture<Optional<Lease>> next =
        locks.tryAcquireAsync(LockRequest.of("a", TTL).waitForever());
    nodes.answerAll(RedlockTest::other);
    CompletableFuture<Boolean> released = held.releaseAsync();

    List<Asked> asked = nodes.take();
    assertThat(asked).extracting(Asked::node).containsExactly(0, 1, 2, 3, 4, 0, 1, 2, 3, 4);
    assertThat(asked.get(0).command().words()).contains(held.token());
    reply(asked.subList(0, 5), Scripts.MINE, 0, 1, 2);
    grant(asked.subList(5, 10), 0, 1, 2);
    assertThat(released).isCompletedWithValue(true);
    assertThat(lease(next).isHeld()).isTrue();
  }

  private LockManager open() {
    return Redlock.open(nodes, time.plainOptions().ownerLabel("me"));
  }

  private Lease acquired(LockManager locks) {
    CompletableFuture<Optional<Lease>> future = locks.tryAcquireAsync(LockRequest.of("a", TTL));
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    return lease(future);
  }

  private static Lease lease(CompletableFuture<Optional<Lease>> future) {
    try {
      return future.join().orElseThrow();
    } catch (CompletionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  private static void reply(List<Asked> asked, long code, int... voters) {
    for (int node : voters) {
      asked.get(node).round().reply(node, code);
    }
  }

  private static void mine(Asked asked) {
    asked.round().reply(asked.node(), Scripts.MINE);
  }

  private static void other(Asked asked) {
    asked.round().reply(asked.node(), Scripts.OTHER);
  }

  private static String tokenOf(Asked asked) {
    return new ArrayList<>(asked.command().words()).get(2);
  }
}
