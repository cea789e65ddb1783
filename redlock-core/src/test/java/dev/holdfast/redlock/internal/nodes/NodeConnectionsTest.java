package dev.holdfast.redlock.internal.nodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connecting, examining, reconnecting, in a time that the test moves. */
class NodeConnectionsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  private final Logger logger = Logger.getLogger(Redlock.class.getName());
  private final List<String> log = new ArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          log.add(
              line.getLevel()
                  + " "
                  + java.text.MessageFormat.format(line.getMessage(), line.getParameters()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
  }

  @AfterEach
  void stopListening() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("a node is reconnected although a logger throws as it goes down")
  void nodeIsReconnectedAlthoughALoggerThrows() {
    open();
    Handler full =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            throw new IllegalStateException("the disk is full");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    logger.addHandler(full);
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    try {
      nodes.breakConnection(2);
      time.advance(SECOND);
    } catch (IllegalStateException thrown) {
      assertThat(thrown).hasMessage("the disk is full");
    }
    logger.removeHandler(full);
    int before = nodes.connects().size();
    time.advance(SECOND.multipliedBy(3));

    assertThat(nodes.connects().size()).isGreaterThan(before);
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("a minority that is down is logged once and tried every second, for ever")
  void aMinorityThatIsDownIsTriedForEver() {
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    open();
    time.advance(Duration.ofSeconds(60));

    assertThat(nodes.connects()).filteredOn(node -> node == 2).hasSize(61);
    assertThat(log)
        .containsExactly(
            "WARNING node h3:6379 is down: connection refused; trying again every second");
  }

  @Test
  @Rule("FAULT-3")
  @DisplayName("a node that comes back is used within a second, and one line says so")
  void aNodeThatComesBackIsUsed() {
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    LockManager locks = open();
    nodes.unreachable(2, null);
    time.advance(SECOND);
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));

    assertThat(nodes.take()).hasSize(3);
    assertThat(log).hasSize(2).last().isEqualTo("INFO node h3:6379 is back");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName("without a quorum, opening fails and names each node and cause")
  void withoutAQuorumOpeningFails() {
    nodes.unreachable(1, new IllegalStateException("connection refused"));
    nodes.unreachable(2, new IllegalStateException("no route to host"));

    assertThatThrownBy(this::open)
        .isInstanceOf(LockOutageException.class)
        .hasMessageContainingAll(
            "1 of 3", "h2:6379: connection refused", "h3:6379: no route to host");
    assertThat(nodes.isClosed()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("the same server twice is a configuration error that names both")
  void theSameServerTwiceIsRefused() {
    nodes.info(2, "run_id:r0\r\nrole:master\r\n");
    assertThatThrownBy(this::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("h3:6379", "h1:6379", "same server");
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a replica is a configuration error that names its master")
  void aReplicaIsRefused() {
    nodes.info(1, "run_id:x\r\nrole:slave\r\nmaster_host:h9\r\nmaster_port:6379\r\n");
    assertThatThrownBy(this::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("h2:6379", "replica of h9:6379");
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a node that comes back as the same server as another does not vote")
  void aNodeThatComesBackAsAnotherDoesNotVote() {
    LockManager locks = open();
    nodes.info(2, "run_id:r0\r\nrole:master\r\n");
    nodes.breakConnection(2);
    time.advance(SECOND);
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));

    assertThat(nodes.take()).hasSize(2);
    assertThat(log).singleElement().asString().contains("h3:6379", "same server as h1:6379");
  }

  @Test
  @Rule("OPEN-3")
  @DisplayName("a policy that can evict lock keys is a warning that names node and policy")
  void anEvictingPolicyIsAWarning() {
    nodes.info(0, "run_id:r0\r\nrole:master\r\nmaxmemory_policy:allkeys-lru\r\n");
    open();
    assertThat(log).singleElement().asString().contains("h1:6379", "allkeys-lru", "noeviction");
  }

  @Test
  @Rule("OPEN-3")
  @DisplayName("the warning comes once for each policy, even if the node reconnects")
  void policyIsWarnedOfOnce() {
    for (String policy : List.of("allkeys-lru", "allkeys-lru", "volatile-ttl")) {
      nodes.info(0, "run_id:r0\r\nrole:master\r\nmaxmemory_policy:" + policy + "\r\n");
      if (nodes.connects().isEmpty()) {
        open();
      } else {
        time.advance(SECOND);
        nodes.breakConnection(0);
        time.advance(Duration.ZERO);
      }
    }
    assertThat(log).hasSize(2);
    assertThat(log.get(0)).contains("allkeys-lru");
    assertThat(log.get(1)).contains("volatile-ttl");
  }

  @Test
  @Rule("OPEN-1")
  @DisplayName(
      "a node that stays down is logged again only for a mistake that a" + " person has to mend")
  void onlyMistakesAreLoggedAgain() {
    for (String cause :
        List.of("connection refused", "no route", "NOAUTH give one", "NOAUTH give one")) {
      nodes.unreachable(2, new IllegalStateException(cause));
      if (nodes.connects().isEmpty()) {
        open();
      } else {
        time.advance(SECOND);
      }
    }
    assertThat(log).hasSize(2);
    assertThat(log.get(0)).contains("connection refused");
    assertThat(log.get(1)).contains("NOAUTH");
  }

  @Test
  @Rule("OPEN-5")
  @DisplayName("each node has a second connection of its own, and the log says so once")
  void eachNodeHasASecondConnectionOfItsOwn() {
    nodes.withoutScripts();
    LockManager locks = open();
    assertThat(nodes.connects()).containsExactly(0, 3, 1, 4, 2, 5);
    nodes.breakConnection(1);
    nodes.breakConnection(5);
    assertThat(nodes.disconnects()).containsExactly(4, 2);
    time.advance(Duration.ZERO);
    assertThat(nodes.connects()).endsWith(1, 4, 2, 5);
    assertThat(log)
        .hasSize(3)
        .allMatch(line -> line.contains("run no scripts"))
        .anyMatch(line -> line.contains("h3:6379"));

    var lease = locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(nodes.pending()).extracting(Asked::node).containsExactly(0, 1, 2);
    nodes.answer(a -> a.round().reply(a.node(), "OK"));
    lease.join().orElseThrow().releaseAsync();
    assertThat(nodes.take()).extracting(Asked::node).containsExactly(3, 3, 3, 4, 4, 4, 5, 5, 5);
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName(
      "the log names the end of the quarantine of a node that is back" + " without its data")
  void quarantineIsLoggedWithItsEnd() {
    nodes.firstError(2, "QUARANTINE 1 3000 57000 0 0 17");
    Redlock.open(nodes, time.plainOptions().restartGuard(true));
    assertThat(log)
        .singleElement()
        .asString()
        .contains("WARNING", "h3:6379", "without its data 3 s ago", "in 57 s");
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("the log says how to let a new node vote")
  void logSaysHowToLetNewNodesVote() {
    nodes.firstError(2, "QUARANTINE 1 0 60000 0 1 17");
    Redlock.open(nodes, time.plainOptions().restartGuard(true));
    assertThat(log)
        .singleElement()
        .asString()
        .contains("WARNING", "h3:6379", "if all nodes are new: holdfast nodes init");
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("if new nodes are trusted, the log warns only of the option")
  void trustedNewNodesAreNotLogged() {
    nodes.firstError(2, "QUARANTINE 1 0 60000 0 1 17");
    Redlock.open(nodes, time.plainOptions().restartGuard(true).connectLazily().trustNewNodes())
        .tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(log).singleElement().asString().contains("WARNING", "newNodes=trust: ");
  }

  @Test
  @Rule("OPEN-4")
  @DisplayName("connect=lazy connects at the first request")
  void lazyConnectsAtTheFirstRequest() {
    LockManager locks = Redlock.open(nodes, time.plainOptions().connectLazily());
    assertThat(nodes.connects()).isEmpty();
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    assertThat(nodes.connects()).containsExactly(0, 1, 2);
    assertThat(nodes.take()).hasSize(3);
  }

  @Test
  @DisplayName("a silent connection is dropped once and replaced")
  void aSilentConnectionIsDropped() {
    LockManager locks = open();
    nodes.silent(2);
    askAllBut(2, locks, Duration.ofMillis(1_500));
    assertThat(nodes.disconnects()).containsExactly(2);
    assertThat(log).singleElement().asString().contains("h3:6379", "answers nothing");
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
    assertThat(log).first().asString().contains("h3:6379", "leaves 50000 commands unanswered");
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
      nodes.answerAll(NodeConnectionsTest::refuse);
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
    LockManager locks = open();
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    List<Asked> unread = nodes.take();
    time.leap(Duration.ofSeconds(3));
    locks.tryAcquireAsync(LockRequest.of("b", SECOND));
    unread.forEach(a -> a.round().reply(a.node(), "OK"));
    time.advance(SECOND.minusMillis(1)); // nor do they answer the releases
    assertThat(nodes.disconnects()).isEmpty();
  }

  @Test
  @DisplayName("after a stall of this process, a node has time for one more answer")
  void afterAStallANodeHasTimeForOneMoreAnswer() {
    LockManager locks = open();
    locks.tryAcquireAsync(LockRequest.of("a", SECOND));
    List<Asked> unread = nodes.take();
    time.leap(Duration.ofSeconds(3));
    locks.tryAcquireAsync(LockRequest.of("b", SECOND));
    time.leap(Duration.ofSeconds(3));
    time.advance(Duration.ZERO);
    assertThat(nodes.disconnects()).isEmpty();
    unread.forEach(a -> a.round().reply(a.node(), "OK"));
    time.advance(SECOND);
    assertThat(nodes.disconnects()).isEmpty();
  }

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
    assertThat(log).isEmpty();
  }

  @Test
  @Rule("FAULT-5")
  @DisplayName("a connection that broke and is not back within nodeTimeout is down")
  void aConnectionThatIsNotBackInTimeIsDown() {
    Duration nodeTimeout = RedlockOptions.DEFAULT_NODE_TIMEOUT;
    LockManager locks = open();
    nodes.silent(0);
    nodes.silent(1);
    nodes.breakConnection(0);
    nodes.breakConnection(1);
    time.advance(nodeTimeout.minusMillis(1));
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
    time.advance(RedlockOptions.DEFAULT_NODE_TIMEOUT);

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
    assertThat(log).isEmpty();
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
    assertThat(log).hasSize(2);
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

  @Test
  @Rule("CLOSE-4")
  @DisplayName("a closed manager connects no more")
  void aClosedManagerConnectsNoMore() {
    nodes.unreachable(2, new IllegalStateException("connection refused"));
    LockManager locks = open();
    locks.close();
    time.advance(Duration.ofSeconds(10));
    assertThat(nodes.connects()).containsExactly(0, 1, 2);
    assertThat(nodes.isClosed()).isTrue();
  }

  @Test
  @DisplayName("a user who may not read INFO may still lock")
  void infoIsOptional() {
    ServerCheck examination =
        new ServerCheck(found -> log.add("found " + found.isReplica()), cause -> log.add("failed"));
    examination.error(0, "NOPERM this user has no permissions to run the 'info' command");
    assertThat(log).containsExactly("found false");
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a node that cannot be examined for another reason does not vote")
  void aNodeThatCannotBeExaminedDoesNotVote() {
    ServerCheck examination =
        new ServerCheck(found -> log.add("found"), cause -> log.add(cause.getMessage()));
    examination.error(0, "LOADING Redis is loading the dataset in memory");
    examination.failure(0, new IllegalStateException("connection reset"));
    assertThat(log).hasSize(2);
    assertThat(log.get(0)).startsWith("LOADING");
    assertThat(log.get(1)).isEqualTo("connection reset");
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
