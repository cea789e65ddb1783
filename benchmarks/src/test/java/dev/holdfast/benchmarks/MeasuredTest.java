package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.benchmarks.Kind.Family;
import dev.holdfast.benchmarks.Kind.Reach;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * The measurements of recorded numbers: p50 of a floor on a machine that got busy in its third
 * round.
 */
class MeasuredTest {
  private static final List<Double> FLOOR = List.of(70.0, 72.0, 350.0, 71.0, 69.0);
  private static final Offset<Double> EXACT = within(1e-9);

  private final Map<String, Kind> kinds = new HashMap<>();
  private final Measured measured = new Measured();

  @Test
  void twoThatAreTheSameHaveARatioOfOneHoweverBusyTheMachineWas() {
    record(Kinds.FLOOR, FLOOR);
    record("same", FLOOR);

    assertThat(ratio("same")).isEqualTo(new Spread(1, 1, 1));
    assertThat(ratio(Kinds.FLOOR)).isEqualTo(new Spread(1, 1, 1));
  }

  @Test
  void twoThatDifferByNoiseOnlyHaveOneWithinTheirSpread() {
    record(Kinds.FLOOR, FLOOR);
    record("again", List.of(71.0, 70.0, 343.0, 71.5, 70.0));

    Spread ratio = ratio("again");
    assertThat(ratio.median()).isCloseTo(1, within(0.02));
    assertThat(1.0).isBetween(ratio.least(), ratio.most());
  }

  @Test
  void aRatioIsThatToTheFloorOfTheSameRound() {
    record(Kinds.FLOOR, FLOOR);
    record("twice", FLOOR.stream().map(micros -> 2 * micros).toList());
    record("shifted", List.of(72.0, 350.0, 71.0, 69.0, 70.0));

    assertThat(ratio("twice")).isEqualTo(new Spread(2, 2, 2));
    // The quotient of the medians would hide it.
    assertThat(ratio("shifted").most()).isCloseTo(350.0 / 72, EXACT);
    assertThat(ratio("shifted").least()).isCloseTo(71.0 / 350, EXACT);
  }

  @Test
  void aValueIsShownAsItWasMeasured() {
    record(Kinds.FLOOR, FLOOR);

    assertThat(cell(Kinds.FLOOR, Figure.P50).value()).isEqualTo(new Spread(71, 69, 350));
  }

  @Test
  void withoutTheFloorThereIsNoRatio() {
    record("alone", FLOOR);

    assertThat(cell("alone", Figure.P50).ratio()).isEmpty();
  }

  @Test
  void aFigureWithAScaleOfItsOwnIsNotCompared() {
    measured.add(kind(Kinds.FLOOR), Map.of(Figure.KEPT, 0.5));
    measured.add(kind("other"), Map.of(Figure.KEPT, 1.0));

    assertThat(cell("other", Figure.KEPT).ratio()).isEmpty();
  }

  @Test
  void failuresAreShownOfTheirWorstRound() {
    Spread rounds = Spread.of(List.of(5.0, 1.0, 3.0));

    assertThat(Figure.P50.of(rounds)).isEqualTo(3);
    assertThat(Figure.LONGEST_CALL.of(rounds)).isEqualTo(5);
    assertThat(Figure.FAILED.of(rounds)).isEqualTo(5);
    assertThat(Figure.LEAST_SHARE.of(rounds)).isEqualTo(1);
  }

  @Test
  void theMedianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
    assertThat(Spread.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new Spread(2.5, 1, 4));
    assertThat(Spread.of(List.of(7.0))).isEqualTo(new Spread(7, 7, 7));
  }

  private void record(String id, List<Double> rounds) {
    rounds.forEach(micros -> measured.add(kind(id), Map.of(Figure.P50, micros)));
  }

  private Spread ratio(String id) {
    return cell(id, Figure.P50).ratio().orElseThrow();
  }

  private Cell cell(String id, Figure figure) {
    return measured.rows().stream()
        .filter(row -> row.kind().id().equals(id))
        .flatMap(row -> Optional.ofNullable(row.cells().get(figure)).stream())
        .findFirst()
        .orElseThrow();
  }

  private Kind kind(String id) {
    return kinds.computeIfAbsent(
        id,
        name ->
            new Kind(
                name,
                name,
                Family.PEER,
                Reach.ANY,
                Set.of(),
                Set.of(),
                uris -> {
                  throw new AssertionError("nothing is measured here");
                }));
  }
}
