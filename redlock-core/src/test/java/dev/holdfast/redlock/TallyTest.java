package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

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
  @DisplayName("ACQ-2: a quorum is more than half of the nodes that are configured")
  void quorumIsMoreThanHalf(int nodes, int quorum) {
    assertThat(Tally.quorumOf(nodes)).isEqualTo(quorum);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName("a decided grant cannot change, and an undecided one can, or names who is out")
  void aGrantIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(nodes, Tally::isGrantDecided, TallyTest::grantOutcome);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName("a decided release cannot change, and an undecided one can, or names who is out")
  void aReleaseIsDecidedExactlyWhenItCannotChange(int nodes) {
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
  @DisplayName("a decided extension cannot change, and an undecided one can, or names who is out")
  void anExtensionIsDecidedExactlyWhenItCannotChange(int nodes) {
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
    Tally tally = new Tally(2, 0b01, 0b10, 0, 0, 0, 0);
    assertThat(grantOutcome(tally)).isEqualTo(Outcome.NOT_OURS);
  }

  @Test
  @DisplayName("ERR-1: each node has granted, refused or not answered")
  void eachNodeHasGrantedRefusedOrNotAnswered() {
    Tally tally = new Tally(6, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b100000);
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
      long bit = 1L << node;
      if ((tally.pending() & bit) != 0) {
        List<Tally> longer = new ArrayList<>();
        for (Tally t : all) {
          for (int vote = 0; vote < 3; vote++) {
            longer.add(voted(t, bit, vote));
          }
        }
        all = longer;
      }
    }
    return all;
  }

  private static List<Tally> allVotes(int nodes, boolean withPending) {
    List<Tally> all = new ArrayList<>();
    all.add(new Tally(nodes, 0, 0, 0, 0, 0, (1L << nodes) - 1));
    for (int node = 0; node < nodes; node++) {
      long bit = 1L << node;
      List<Tally> longer = new ArrayList<>();
      for (Tally t : all) {
        for (int vote = 0; vote < (withPending ? 4 : 3); vote++) {
          longer.add(voted(t, bit, vote));
        }
      }
      all = longer;
    }
    return all;
  }

  private static Tally voted(Tally t, long bit, int vote) {
    return new Tally(
        t.nodes(),
        t.mine() | (vote == 0 ? bit : 0),
        t.other() | (vote == 1 ? bit : 0),
        0,
        0,
        t.failed() | (vote == 2 ? bit : 0),
        vote == 3 ? t.pending() : t.pending() & ~bit);
  }
}
