package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every combination of votes, for every number of nodes that people run. */
class TallyTest {
  private enum Outcome {
    GRANTED,
    CONTENDED,
    OUTAGE
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,2", "3,2", "4,3", "5,3", "6,4", "7,4"})
  @DisplayName("ACQ-2: a quorum is more than half of the nodes that are configured")
  void quorumIsMoreThanHalf(int nodes, int quorum) {
    assertThat(Tally.quorumOf(nodes)).isEqualTo(quorum);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName("a decided grant cannot change, and an undecided one can")
  void aGrantIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(nodes, Tally::isGrantDecided, TallyTest::grantOutcome);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName("a decided release cannot change, and an undecided one can")
  void aReleaseIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(
        nodes,
        Tally::isReleaseDecided,
        tally ->
            tally.isDenied() ? "lost" : tally.hasQuorumOfAnswers() ? "given back" : "outage");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  @DisplayName("a decided extension cannot change, and an undecided one can")
  void anExtensionIsDecidedExactlyWhenItCannotChange(int nodes) {
    decidedExactlyWhenItCannotChange(
        nodes,
        Tally::isExtensionDecided,
        tally -> tally.isGranted() ? "extended" : tally.isDenied() ? "lost" : "no quorum");
  }

  @Test
  @DisplayName("two nodes with one vote each: refused, though none is a majority")
  void aSplitVoteIsContention() {
    Tally tally = new Tally(2, 0b01, 0b10, 0, 0, 0, 0);
    assertThat(grantOutcome(tally)).isEqualTo(Outcome.CONTENDED);
  }

  private static Outcome grantOutcome(Tally tally) {
    if (tally.isGranted()) {
      return Outcome.GRANTED;
    }
    return tally.hasQuorumOfAnswers() ? Outcome.CONTENDED : Outcome.OUTAGE;
  }

  private static <T> void decidedExactlyWhenItCannotChange(
      int nodes, Predicate<Tally> decided, Function<Tally, T> outcome) {
    for (Tally tally : allVotes(nodes, true)) {
      long possible =
          completions(tally).stream().map(outcome).distinct().count();
      assertThat(decided.test(tally)).as("%s", tally).isEqualTo(possible == 1);
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
