package dev.holdfast.redlock.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The restart guard, message by message. */
class GuardTermsTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final long FENCE = 1_700_000_000_000_000L;
  private static final long BEGUN = 1_600_000_000_000_000L;

  private final ManualTime time = new ManualTime();
  private ScriptedNodes nodes = new ScriptedNodes(3);
  private LockManager locks = open(time.options());

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("each attempt sends the terms of the guard as its last arguments")
  void eachAttemptSendsTheTermsOfTheGuard() {
    locks = open(time.options().cluster("bills").maxTtl(Duration.ofSeconds(20)));
    ask();
    Command.Eval eval = (Command.Eval) nodes.take().get(0).command();

    assertThat(eval.script()).isEqualTo(Scripts.ACQUIRE.guarded());
    assertThat(eval.keys()).containsExactly("a", "holdfast:fence:a", "holdfast:guard");
    assertThat(eval.arguments().subList(4, 8))
        .containsExactly("0", "20000 3 bills", "21202000", Long.toString(time.wallMicros()));
  }

  @Test
  @Rule("EXT-7")
  @DisplayName("the scripts are loaded into a node that was just connected")
  void scriptsAreLoadedIntoAConnectedNode() {
    assertThat(nodes.notified())
        .filteredOn(notified -> notified.node() == 2)
        .extracting(Asked::command)
        .extracting(command -> ((Command.Eval) command).script())
        .containsExactly(Scripts.ACQUIRE.guarded(), Scripts.EXTEND.guarded());
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("the vote of a node under quarantine does not count")
  void aVoteUnderQuarantineDoesNotCount() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    quarantine(asked, 1, "3 3000 57000 1"); // also of a restart that left it empty
    quarantine(asked, 2, "3 1000 59600 1");
    confirmReleases();

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining(
            "h2:6379: it is new or came back without its data 3 s ago; its vote counts again in 57"
                + " s")
        .hasMessageContaining("(1 of 3 nodes voted, 2 in quarantine)")
        .hasMessageContaining("no quorum votes before ")
        .hasMessageNotContaining("nodes init");
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName("the message says when a quorum votes again, not when all nodes do")
  void theMessageSaysWhenAQuorumVotes() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    quarantine(asked, 1, "3 3000 61001 0");
    quarantine(asked, 2, "3 3000 5000000 0");
    confirmReleases();

    String end = inMillis(61_001);
    assertThatThrownBy(future::join).hasMessageContaining("no quorum votes before " + end);
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName("one quarantine is reported if a quorum waits only for its end")
  void oneQuarantineIsReportedIfAQuorumWaitsForItAlone() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    quarantine(asked, 1, "3 3000 61001 0");
    asked.get(2).round().error(2, "LOADING");
    confirmReleases();

    assertThatThrownBy(future::join).hasMessageContaining("no quorum votes before ");
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName("no end of quarantines is reported if it would not suffice")
  void noEndIsReportedIfItWouldNotSuffice() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, "3 3000 61001 0");
    asked.get(1).round().error(1, "LOADING");
    asked.get(2).round().error(2, "LOADING");
    confirmReleases();

    assertThatThrownBy(future::join)
        .hasMessageContaining("h1:6379: it came back")
        .hasMessageNotContaining("no quorum votes before");
  }

  @Test
  @Rule("GUARD-4")
  @DisplayName("a veto is reported although a quorum answered")
  void vetoIsReportedAlthoughAQuorumAnswered() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    reply(asked, 0, 1);
    asked.get(2).round().error(2, "GUARDED 60000 5 other");
    confirmReleases();

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("2 of 3", "h3:6379: its clients gave")
        .hasMessageNotContaining("no quorum votes before");
  }

  @Test
  @Rule("GUARD-2")
  @DisplayName("the message says how to let nodes vote that look new")
  void messageSaysHowToLetNewNodesVote() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    asked.forEach(a -> quarantine(asked, a.node(), "3 1000 60600 1"));
    confirmReleases();

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining(
            "no lock yet: all 3 nodes are new, or have all lost their data; they begin to vote at "
                + inMillis(60_600)
                + "; if they really are new: holdfast nodes init --url …, or newNodes=trust")
        .hasMessageContaining("h1:6379: it looks new; its vote counts in 61 s")
        .hasMessageNotContaining("answered")
        .hasMessageNotContaining("came back");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("a quorum without the node in quarantine grants")
  void quorumWithoutTheQuarantinedNodeGrants() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 1, "3 3000 57000 0");
    grant(asked, 0, 2);

    assertThat(future.join()).isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-3")
  @DisplayName("a node whose quarantine began before the grant does not extend")
  void aNodeWhoseQuarantineBeganBeforeTheGrantDoesNotExtend() {
    assertDoesNotExtend("3 3000 57000 0", "may have voted for another before it lost its data");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-3")
  @DisplayName("a node in quarantine that had refused the lease does not extend it")
  void aNodeThatDidNotHoldTheKeyDoesNotExtend() {
    assertDoesNotExtend("0 3000 57000 0", "has refused the lease");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-3")
  @DisplayName("a node whose key may have expired does not extend in quarantine")
  void nodeWhoseKeyMayHaveExpiredDoesNotExtend() {
    Lease lease = grantedByAllAndExtendedByTwo();
    time.advance(TTL.dividedBy(2));
    var second = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    quarantine(extending, 2, "1 4000 56000 0");
    reply(extending, Scripts.MINE, 0);
    assertThat(second).isNotDone();
    reply(extending, Scripts.MINE, 1);
    assertThat(second).isCompleted();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-3")
  @DisplayName("a vote counts only if it comes before the key may have expired there")
  void voteCountsOnlyIfItComesBeforeTheKeyMayHaveExpired() {
    Lease lease = grantedByAllAndExtendedByTwo();
    time.advance(
        TTL.dividedBy(2).minusMillis(120)); // its validity there ends 102 ms before the ttl
    var second = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    reply(extending, Scripts.MINE, 0);
    time.advance(Duration.ofMillis(30));
    quarantine(extending, 2, "1 4000 56000 0");
    assertThat(second).isNotDone();
    reply(extending, Scripts.MINE, 1);
    assertThat(second).isCompleted();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-3")
  @DisplayName("a node that has kept the key by extensions extends in quarantine")
  void aNodeThatHasKeptTheKeyByExtensionsExtends() {
    Lease lease = grantedBy(0, 1);
    time.advance(TTL.dividedBy(2));
    var first = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    reply(extending, Scripts.MINE, 0);
    quarantine(extending, 1, "2 0 60600 0"); // put back, which is no vote yet
    reply(extending, Scripts.MINE, 2);
    assertThat(first).isCompleted();

    time.advance(TTL.dividedBy(2));
    var second = lease.extendAsync(TTL);
    extending = nodes.take();
    quarantine(extending, 1, "1 5000 56000 0");
    reply(extending, Scripts.MINE, 0);
    assertThat(second).isCompleted();
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-3", "EXT-5"})
  @DisplayName("nodes that lost a lease deny it, in quarantine too")
  void nodesThatLostALeaseDenyItInQuarantine() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    Lease lease = future.join().orElseThrow();

    var extended = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    quarantine(extending, 0, "2 0 60600 0");
    quarantine(extending, 1, "2 0 60600 0");
    confirmReleases();

    assertThat(extended).isCompletedExceptionally();
    assertThat(lease.onLoss()).isCompletedWithValue(LossReason.REMOVED);
  }

  @Test
  @Rule("GUARD-4")
  @DisplayName("one node that belongs to other clients vetoes the attempt, which" + " is released")
  void nodeOfOtherClientsVetoesTheAttempt() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    asked.get(1).round().error(1, "GUARDED 60000 5 other name");
    grant(asked, 2);
    List<Asked> released = nodes.take();
    assertThat(released).hasSize(3);
    released.forEach(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(
            "h2:6379: its clients gave maxTtl=60000ms, 5 nodes and cluster='other name': give the"
                + " same, or other nodes");
  }

  @Test
  @Rule("GUARD-4")
  @DisplayName("a node that refused this client when it was connected vetoes, too")
  void aNodeThatRefusedTheConnectionVetoes() {
    nodes = new ScriptedNodes(3);
    nodes.firstError(2, "GUARDED 60000 5 other");
    locks = open(time.options().connectLazily());
    CompletableFuture<Optional<Lease>> future = ask();
    nodes.answerAll(a -> a.round().reply(a.node(), FENCE));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("h3:6379: its clients gave maxTtl=60000ms");
  }

  @Test
  @Rule("CLOSE-4")
  @DisplayName("the connection to a node that refuses this client is dropped")
  void theConnectionToANodeThatRefusesThisClientIsDropped() {
    nodes = new ScriptedNodes(3);
    nodes.firstError(2, "GUARDED 60000 5 other");
    locks = open(time.options().connectLazily());
    ask();
    time.advance(Duration.ofSeconds(5));

    assertThat(nodes.connects()).filteredOn(node -> node == 2).hasSize(6);
    assertThat(nodes.disconnects()).containsOnly(2).hasSize(6);
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-4", "EXT-1"})
  @DisplayName("a node that now belongs to other clients vetoes no extension")
  void nodeOfOtherClientsVetoesNoExtension() {
    Lease lease = grantedBy(0, 1, 2);

    var extended = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    extending.get(0).round().error(0, "GUARDED 60000 5 other");
    reply(extending, Scripts.MINE, 1, 2);

    assertThat(extended).isCompleted();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "QUARANTINE",
        "QUARANTINE 1 1 1 1",
        "QUARANTINE -1 1 1 0 1 1",
        "QUARANTINE 1 -1 1 0 1 1",
        "QUARANTINE 1 1 1 -1 1 1",
        "QUARANTINE 1 1 1 0 2 1",
        "QUARANTINE 1 1 1 0 1 x",
        "QUARANTINE 1 99999999999999999999 1 0 1 1",
        "GUARDED",
        "GUARDED x y z",
        "GUARDED 1 2"
      })
  @Tag("exclusion")
  @Rule("ERR-6")
  @DisplayName("an error that only resembles the guard's is no vote and names the node")
  void errorLikeThatOfTheGuardIsNoVote(String error) {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    asked.get(0).round().error(0, error);
    asked.get(1).round().error(1, error);
    asked.get(2).round().error(2, error);
    confirmReleases();

    assertThatThrownBy(future::join).hasMessageContaining("h1:6379: " + error);
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("with fewer than three nodes the guard is off by default")
  void guardIsOffByDefaultBelowThreeNodes() {
    nodes = new ScriptedNodes(2);
    locks = open(time.options());
    ask();
    assertThat(script()).isEqualTo(Scripts.ACQUIRE.plain());

    nodes = new ScriptedNodes(1);
    locks = open(time.options().restartGuard(true));
    ask();
    assertThat(script()).isEqualTo(Scripts.ACQUIRE.guarded());
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("without fencing the guard precedes a plain SET")
  void withoutFencingTheGuardPrecedesAPlainSet() {
    locks = open(time.options().fencing(false));
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    Command.Eval eval = (Command.Eval) asked.get(0).command();
    assertThat(eval.script()).isEqualTo(Scripts.TAKE.guarded());
    assertThat(eval.keys()).containsExactly("a", "holdfast:guard");
    reply(asked, Scripts.MINE, 0, 1);

    assertThat(future.join().orElseThrow().fencingToken()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("without guard and fencing a lock is a plain SET, for servers without scripts")
  void withoutFencingAndGuardALockIsAPlainSet() {
    locks = open(time.options().fencing(false).restartGuard(false));
    ask();
    assertThat(nodes.take().get(0).command()).isInstanceOf(Command.SetIfAbsent.class);
  }

  private String inMillis(long left) {
    return Instant.ofEpochMilli(time.wallMicros() / 1000 + left + 999)
        .atZone(ZoneId.systemDefault())
        .format(DateTimeFormatter.ofPattern("HH:mm:ss"));
  }

  private Script script() {
    return ((Command.Eval) nodes.take().get(0).command()).script();
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return locks.tryAcquireAsync(LockRequest.of("a", TTL));
  }

  /** Asserts that node 1, whose quarantine had this state at the grant, has no vote later. */
  private void assertDoesNotExtend(String quarantineAtTheGrant, String reason) {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 1, quarantineAtTheGrant);
    grant(asked, 0, 2);
    Lease lease = future.join().orElseThrow();

    var extended = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    quarantine(extending, 1, "1 4000 56000 0");
    reply(extending, Scripts.MINE, 0);
    assertThat(extended).as(reason).isNotDone();
    reply(extending, Scripts.MINE, 2);
    assertThat(extended).isCompleted();
  }

  private Lease grantedBy(int... voters) {
    CompletableFuture<Optional<Lease>> future = ask();
    grant(nodes.take(), voters);
    return future.join().orElseThrow();
  }

  /** Extends at half of the ttl. The third node is cut off, and may vote for another soon. */
  private Lease grantedByAllAndExtendedByTwo() {
    Lease lease = grantedBy(0, 1, 2);
    time.advance(TTL.dividedBy(2));
    var extended = lease.extendAsync(TTL);
    reply(nodes.take(), Scripts.MINE, 0, 1);
    assertThat(extended).isCompleted();
    return lease;
  }

  private void confirmReleases() {
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
  }

  private static void grant(List<Asked> asked, int... some) {
    reply(asked, FENCE, some);
  }

  private static void reply(List<Asked> asked, long reply, int... some) {
    for (int node : some) {
      asked.get(node).round().reply(node, reply);
    }
  }

  /** Words: the vote without it, its age, its rest, and whether it is new. */
  private static void quarantine(List<Asked> asked, int node, String words) {
    quarantine(asked, node, words, "0", BEGUN + node);
  }

  private static void quarantine(
      List<Asked> asked, int node, String words, String more, long begun) {
    String[] parts = words.split(" ", -1);
    asked
        .get(node)
        .round()
        .error(
            node,
            "QUARANTINE %s %s %s %s %s %d"
                .formatted(parts[0], parts[1], parts[2], more, parts[3], begun));
  }

  private LockManager open(RedlockOptions options) {
    return Redlock.open(nodes, options);
  }
}
