package dev.holdfast.redlock.internal.vote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every combination of votes, for every number of nodes that people run. */
class TallyTest {
  private enum Outcome {
    DONE,
    NOT_OURS,
    OUTAGE
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,2", "3,2", "4,3", "5,3", "6,4", "7,4"})
  @Tag("exclusion")
  @Rule("ACQ-2")
  @DisplayName("a quorum is more than half of the nodes that are configured")
  void quorumIsMoreThanHalf(int nodes, int quorum) {
    assertThat(Tally.quorumOf(nodes)).isEqualTo(quorum);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName(
      "a decided grant cannot change, and an undecided one can, or names the" + " silent nodes")
  void grantIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(nodes, Tally::isGrantDecided, TallyTest::grantOutcome);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName(
      "a decided release cannot change, and an undecided one can, or names the" + " silent nodes")
  void releaseIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(
        nodes,
        Tally::isReleaseDecided,
        tally ->
            tally.isDenied()
                ? Outcome.NOT_OURS
                : tally.hasQuorumOfAnswers() ? Outcome.DONE : Outcome.OUTAGE);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName(
      "a decided extension cannot change, and an undecided one can, or names the" + " silent nodes")
  void extensionIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(
        nodes,
        Tally::isExtensionDecided,
        tally ->
            tally.isGranted()
                ? Outcome.DONE
                : tally.isDenied() ? Outcome.NOT_OURS : Outcome.OUTAGE);
  }

  @Test
  @DisplayName("two nodes with one vote each: refused, though none is a majority")
  void aSplitVoteIsContention() {
    Tally tally =
        Tally.before(2, NodeSet.all(2))
            .withVotes(NodeSet.of(0), Vote.MINE)
            .withVotes(NodeSet.of(1), Vote.OTHER);
    assertThat(grantOutcome(tally)).isEqualTo(Outcome.NOT_OURS);
  }

  @Test
  @DisplayName("a vote that is counted late is no failure any more")
  void aLateVoteIsNoFailure() {
    Tally tally =
        Tally.before(2, NodeSet.all(2))
            .withFailures(NodeSet.all(2))
            .withVotes(NodeSet.of(1), Vote.MINE);
    assertThat(tally.voters()).isEqualTo(NodeSet.of(1));
    assertThat(tally.failed()).isEqualTo(NodeSet.of(0));
    assertThat(tally.isComplete()).isTrue();
  }

  @Test
  @Rule("ERR-1")
  @DisplayName("each node has granted, refused or not answered")
  void eachNodeHasGrantedRefusedOrNotAnswered() {
    Tally tally =
        Tally.before(6, NodeSet.all(6))
            .withVotes(NodeSet.of(0), Vote.MINE)
            .withVotes(NodeSet.of(1), Vote.OTHER)
            .withVotes(NodeSet.of(2), Vote.MISSING)
            .withVotes(NodeSet.of(3), Vote.WRONG_TYPE)
            .withFailures(NodeSet.of(4));
    assertThat(tally.granted()).isEqualTo(1);
    assertThat(tally.refused()).isEqualTo(3);
    assertThat(tally.unanswered()).as("one failed, one is awaited").isEqualTo(1);
  }

  private static Outcome grantOutcome(Tally tally) {
    if (tally.isGranted()) {
      return Outcome.DONE;
    }
    return tally.hasQuorumOfAnswers() ? Outcome.NOT_OURS : Outcome.OUTAGE;
  }

  /** An outage is for the last answer or the deadline to decide, so that it names every node. */
  private static void decidedExactlyWhenItCannotChange(
      int nodes, Predicate<Tally> decided, Function<Tally, Outcome> outcome) {
    for (Tally tally : allVotes(nodes, true)) {
      List<Outcome> possible = completions(tally).stream().map(outcome).distinct().toList();
      assertThat(decided.test(tally))
          .as("%s", tally)
          .isEqualTo(possible.size() == 1 && possible.get(0) != Outcome.OUTAGE);
    }
  }

  private static List<Tally> completions(Tally tally) {
    List<Tally> all = new ArrayList<>(List.of(tally));
    for (int node = 0; node < tally.nodes(); node++) {
      if (tally.pending().contains(node)) {
        List<Tally> longer = new ArrayList<>();
        for (Tally t : all) {
          for (int vote = 0; vote < 3; vote++) {
            longer.add(voted(t, node, vote));
          }
        }
        all = longer;
      }
    }
    return all;
  }

  private static List<Tally> allVotes(int nodes, boolean withPending) {
    List<Tally> all = new ArrayList<>();
    all.add(Tally.before(nodes, NodeSet.all(nodes)));
    for (int node = 0; node < nodes; node++) {
      List<Tally> longer = new ArrayList<>();
      for (Tally t : all) {
        for (int vote = 0; vote < (withPending ? 4 : 3); vote++) {
          longer.add(voted(t, node, vote));
        }
      }
      all = longer;
    }
    return all;
  }

  private static Tally voted(Tally tally, int node, int vote) {
    return switch (vote) {
      case 0 -> tally.withVotes(NodeSet.of(node), Vote.MINE);
      case 1 -> tally.withVotes(NodeSet.of(node), Vote.OTHER);
      case 2 -> tally.withFailures(NodeSet.of(node));
      default -> tally;
    };
  }
}
