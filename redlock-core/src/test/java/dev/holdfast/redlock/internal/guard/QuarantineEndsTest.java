package dev.holdfast.redlock.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ManualTime;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.ScriptedNodes;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which client ends which quarantine, and when, message by message. */
class QuarantineEndsTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final long FENCE = 1_700_000_000_000_000L;
  private static final String OTHERS = "GUARDED 60000 5 other";

  /** The reply of a node: whether its quarantine is over by our maxTtl. */
  private static final long OVER = 0;

  private static final long IN_QUARANTINE = 1;
  private static final long YEAR = 31_536_000_000L;

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  private final LockManager locks = Redlock.open(nodes, time.options());

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("a quarantine that is over ends when a quorum of the same terms grants")
  void quorumOfTheSameTermsEndsAQuarantine() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 1, OVER);
    grant(asked, 0, 2);

    assertThat(future.join()).isPresent();
    assertThat(ended()).containsExactly("1: 101");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("the quarantine of a node that answers after the quorum ends, too")
  void lateReplyEndsAQuarantineToo() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0, 2);
    assertThat(future.join()).isPresent();
    assertThat(ended()).isEmpty();

    quarantine(asked, 1, OVER);

    assertThat(ended()).containsExactly("1: 101");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-1")
  @DisplayName("a quarantine that is not over is left, also if it is seen late")
  void quarantineInProgressIsLeft() {
    ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, IN_QUARANTINE);
    grant(asked, 1, 2);
    ask();
    asked = nodes.take();
    grant(asked, 1, 2);
    quarantine(asked, 0, IN_QUARANTINE);

    assertThat(ended()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("a node of other terms keeps the client from ending any quarantine")
  void nodeOfOtherTermsPreventsEnds() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, OVER);
    grant(asked, 1);
    asked.get(2).round().error(2, OTHERS);

    assertThat(ended()).isEmpty();
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThatThrownBy(future::join).hasCauseInstanceOf(LockConfigurationException.class);
    assertThat(ended()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-4")
  @DisplayName("a veto is remembered of a node that always answers last")
  void lateVetoIsRemembered() {
    CompletableFuture<Optional<Lease>> first = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0, 1);
    assertThat(first.join()).isPresent();
    asked.get(2).round().error(2, OTHERS);

    CompletableFuture<Optional<Lease>> second = ask();
    asked = nodes.take();
    grant(asked, 0, 1);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThatThrownBy(second::join)
        .hasCauseInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(
            "h3:6379: its clients gave maxTtl=60000ms, 5 nodes and cluster='other'");
    grant(asked, 2);

    CompletableFuture<Optional<Lease>> third = ask();
    grant(nodes.take(), 0, 1);
    assertThat(third.join()).isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-4", "GUARD-6"})
  @DisplayName("a client whose end of a quarantine is refused for its" + " terms is vetoed")
  void endByAClientOfOtherTermsIsAVeto() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, OVER);
    quarantine(asked, 1, OVER);
    quarantine(asked, 2, OVER);
    nodes.answer(
        a -> {
          if (a.node() == 2) {
            a.round().error(2, OTHERS);
          } else {
            a.round().reply(a.node(), Scripts.MINE);
          }
        });
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThatThrownBy(future::join).hasCauseInstanceOf(LockConfigurationException.class);
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName(
      "a client that has seen no node of its terms, and not all nodes," + " ends no quarantine")
  void clientWithoutANodeOfItsTermsEndsNoQuarantine() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, OVER);
    quarantine(asked, 1, OVER);
    asked.get(2).round().error(2, "LOADING");

    assertThat(ended()).isEmpty();
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("(0 of 3 nodes voted, 2 in quarantine): no quorum votes before ")
        .hasMessageContaining(
            ", and none before all 3 nodes answer, because no node that did has kept its data")
        .hasMessageContaining("its quarantine can end, and does with the next request for a lock");
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-2", "GUARD-6"})
  @DisplayName("one node of the same terms does, and the vote counts at once")
  void oneNodeOfItsTermsLetsAClientEndQuarantines() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    quarantine(asked, 1, OVER);
    asked.get(2).round().error(2, "LOADING");

    assertThat(future).isNotDone();
    answerEnds(Scripts.MINE);

    assertThat(future.join().orElseThrow().fencingToken()).hasValue(FENCE);
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("the vote counts only if the quarantine was the one that was seen")
  void theVoteCountsOnlyIfItWasTheSame() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    grant(asked, 0);
    quarantine(asked, 1, OVER);
    asked.get(2).round().error(2, "LOADING");
    answerEnds(Scripts.OTHER);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThatThrownBy(future::join)
        .hasCauseInstanceOf(LockOutageException.class)
        .hasMessageContaining("(1 of 3 nodes voted, 1 in quarantine)");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("a vote against counts, too: it is contention, no outage")
  void aVoteAgainstCountsToo() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    asked.get(0).round().reply(0, Scripts.OTHER);
    asked.get(1).round().error(1, "QUARANTINE 0 70000 0 0 0 101");
    asked.get(2).round().error(2, "LOADING");
    answerEnds(Scripts.MINE);
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(future.join()).isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("if all N are in quarantine, it ends once it is over on a quorum")
  void expiredQuarantinesOfAQuorumEndIfNoNodeVotes() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, OVER);
    quarantine(asked, 1, IN_QUARANTINE);
    quarantine(asked, 2, OVER);
    assertThat(future).isNotDone();

    List<Asked> ends = nodes.take();
    assertThat(words(ends)).containsExactly("0: 100", "2: 102");
    ends.forEach(a -> a.round().reply(a.node(), Scripts.MINE));

    assertThat(future.join()).isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("if all N are in quarantine and it is over on a minority, none ends")
  void expiredQuarantinesOfAMinorityDoNotEnd() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, OVER);
    quarantine(asked, 1, IN_QUARANTINE);
    quarantine(asked, 2, IN_QUARANTINE);

    assertThat(ended()).isEmpty();
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThatThrownBy(future::join).hasMessageContaining("no lock yet: all 3 nodes are new, ");
  }

  @Test
  @Tag("exclusion")
  @Rule({"GUARD-1", "GUARD-6"})
  @DisplayName("if all N are in quarantine, the longest maxTtl of all" + " clients counts")
  void ifAllAreInQuarantineTheLongestMaxTtlCounts() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 0, -20_000, 0);
    quarantine(asked, 1, -20_000, 20_001);
    quarantine(asked, 2, -20_000, 0);
    assertThat(ended()).isEmpty();
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));
    assertThatThrownBy(future::join)
        .hasMessageContaining("begin to vote at ")
        .hasMessageContaining(", because a client with a longer maxTtl asked for locks, too");

    ask();
    asked = nodes.take();
    quarantine(asked, 0, -20_000, 0);
    quarantine(asked, 1, -20_000, 20_000);
    quarantine(asked, 2, -19_999, 0);
    assertThat(ended()).containsExactly("0: 100", "1: 101");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("if a node of the same terms votes, the maxTtl of other clients" + " does not count")
  void ifANodeVotesOtherMaxTtlsDoNotCount() {
    ask();
    List<Asked> asked = nodes.take();
    quarantine(asked, 1, OVER, YEAR);
    grant(asked, 0, 2);

    assertThat(ended()).containsExactly("1: 101");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("an extension ends quarantines, too, by the votes of nodes with all" + " their data")
  void extensionEndsQuarantinesToo() {
    CompletableFuture<Optional<Lease>> future = ask();
    grant(nodes.take(), 0, 1, 2);
    Lease lease = future.join().orElseThrow();

    var extended = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    extending.get(1).round().error(1, "QUARANTINE 1 70000 0 0 0 101");
    extending.get(0).round().reply(0, Scripts.MINE);

    assertThat(extended).isCompleted();
    assertThat(ended()).containsExactly("1: 101");
  }

  @Test
  @Tag("exclusion")
  @Rule("GUARD-6")
  @DisplayName("an extension that a node of other terms answers ends no quarantine")
  void extensionAnsweredByANodeOfOtherTermsEndsNone() {
    CompletableFuture<Optional<Lease>> future = ask();
    grant(nodes.take(), 0, 1, 2);
    Lease lease = future.join().orElseThrow();

    var extended = lease.extendAsync(TTL);
    List<Asked> extending = nodes.take();
    extending.get(2).round().error(2, OTHERS);
    extending.get(1).round().error(1, "QUARANTINE 1 70000 0 0 0 101");
    extending.get(0).round().reply(0, Scripts.MINE);

    assertThat(extended).isCompleted();
    assertThat(ended()).isEmpty();
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return locks.tryAcquireAsync(LockRequest.of("a", TTL));
  }

  private void answerEnds(long reply) {
    List<Asked> ends = nodes.take();
    assertThat(words(ends)).containsExactly("1: 101");
    ends.get(0).round().reply(1, reply);
  }

  /** The ends that were asked for, as node and quarantine. */
  private List<String> ended() {
    List<Asked> pending = nodes.pending();
    return words(pending);
  }

  private static List<String> words(List<Asked> asked) {
    return asked.stream()
        .filter(a -> ((Command.Eval) a.command()).script().equals(Scripts.END))
        .map(a -> a.node() + ": " + ((Command.Eval) a.command()).arguments().get(0))
        .toList();
  }

  private static void grant(List<Asked> asked, int... some) {
    for (int node : some) {
      asked.get(node).round().reply(node, FENCE);
    }
  }

  private static void quarantine(List<Asked> asked, int node, long left) {
    quarantine(asked, node, left, 0);
  }

  private static void quarantine(List<Asked> asked, int node, long left, long more) {
    asked
        .get(node)
        .round()
        .error(node, "QUARANTINE %d 70000 %d %d 1 %d".formatted(FENCE, left, more, 100 + node));
  }
}
