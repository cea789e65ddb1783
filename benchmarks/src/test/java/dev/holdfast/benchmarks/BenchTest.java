package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.benchmarks.Kind.Family;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The bench on real servers: that all is measured, not how fast it is. */
class BenchTest {
  private static final Set<String> TWO = Set.of("uncontended-1", "one-name-1-16");

  @Test
  @Tag("slow")
  void measuresEachContestantInEachScenarioBesideTheFloor() throws InterruptedException {
    List<Report> soFar = new ArrayList<>();

    Report report =
        Bench.of(TWO, Set.of("jedis-safe", "rlock"), Optional.of(1), true).run(soFar::add);

    assertThat(soFar).extracting(each -> each.results().size()).containsExactly(1, 2);
    assertThat(soFar).last().isEqualTo(report);
    assertThat(report.results())
        .extracting(Report.Result::id)
        .containsExactlyInAnyOrderElementsOf(TWO);
    for (Report.Result result : report.results()) {
      assertThat(result.notes()).isEmpty();
      assertThat(result.rows())
          .extracting(row -> row.kind().id())
          .containsExactlyInAnyOrder("floor", "jedis-safe", "rlock");
      assertThat(result.rows()).allSatisfy(row -> assertThat(row.cells()).isNotEmpty());
    }
    assertThat(cell(report, "uncontended-1", "floor", Figure.P50).ratio())
        .contains(new Spread(1, 1, 1));
    assertThat(median(report, "uncontended-1", "floor", Figure.P50)).isPositive();
    // A hold is a millisecond, and threads take turns.
    assertThat(median(report, "one-name-1-16", "jedis-safe", Figure.GRANTS))
        .isBetween(1.0, 1_000.0);
    assertThat(median(report, "one-name-1-16", "rlock", Figure.COMMANDS_EACH))
        .isGreaterThanOrEqualTo(2);
  }

  @Test
  void aContestantThatFailsIsLeftOutWithANote() throws InterruptedException {
    Kind broken =
        new Kind(
            "broken",
            "Broken",
            Family.PEER,
            Kind.Reach.ANY,
            Set.of(),
            Set.of(),
            uris -> new Broken());
    Kind closed =
        new Kind(
            "closed",
            "Closed",
            Family.PEER,
            Kind.Reach.ANY,
            Set.of(),
            Set.of(),
            uris -> {
              throw new IllegalStateException("not today");
            });

    Report.Result result =
        new Alternation(new Uncontended(1), new Effort(1, true), new Progress(1))
            .run(List.of(Kinds.of(Kinds.FLOOR), broken, closed));

    assertThat(result.rows()).extracting(row -> row.kind().id()).containsExactly("floor");
    assertThat(result.notes())
        .containsExactlyInAnyOrder(
            "Broken failed: java.lang.IllegalStateException: it broke",
            "Closed cannot be opened: java.lang.IllegalStateException: not today");
  }

  @Test
  void theBeginningOfANameIsEnough() {
    Bench bench = Bench.of(Set.of("uncontended"), Set.of("jedis"), Optional.empty(), false);

    assertThat(bench.scenarios())
        .extracting(Bench.Named::id)
        .containsExactly("uncontended-1", "uncontended-3", "uncontended-5");
    assertThat(bench.contestants())
        .extracting(Kind::id)
        .containsExactly("floor", "jedis-plain", "jedis-safe");
  }

  @Test
  void anUnknownScenarioIsAnErrorThatListsTheKnownOnes() {
    assertThatThrownBy(() -> Bench.of(Set.of("uncontested"), Set.of(), Optional.empty(), false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no scenario 'uncontested'")
        .hasMessageContaining("uncontended-1");
  }

  static List<Scenario> scenarios() {
    return Scenarios.all(false);
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  void everyScenarioHasANameOfItsOwnAndContestants(Scenario scenario) {
    assertThat(scenarios()).filteredOn(other -> other.id().equals(scenario.id())).hasSize(1);
    assertThat(Kinds.all())
        .filteredOn(kind -> kind.family() == Family.OURS && kind.reaches(scenario.nodes()))
        .hasSize(6);
  }

  /** Scenarios that take too long for every build. */
  @Tag("soak")
  @Timeout(value = 15, unit = TimeUnit.MINUTES)
  @Test
  void everyScenarioMeasures() throws InterruptedException {
    Report report =
        Bench.of(
                Set.of(), Set.of("lettuce-plain", "rlock", "redissonredlock"), Optional.of(1), true)
            .run(soFar -> {});

    for (Report.Result result : report.results()) {
      assertThat(result.rows())
          .as(result.title())
          .filteredOn(row -> row.kind().id().equals("lettuce-plain"))
          .hasSize(result.id().startsWith("virtual") && Runtime.version().feature() < 21 ? 0 : 1)
          .allSatisfy(row -> assertThat(row.cells()).isNotEmpty());
      assertThat(result.notes()).as(result.title()).noneMatch(note -> note.contains(" failed: "));
    }
    assertThat(cell(report, "kept-alive", "lettuce-plain", Figure.LOST).value().most()).isZero();
  }

  private static double median(Report report, String scenario, String contestant, Figure figure) {
    return cell(report, scenario, contestant, figure).value().median();
  }

  private static Cell cell(Report report, String scenario, String contestant, Figure figure) {
    return report.results().stream()
        .filter(result -> result.id().equals(scenario))
        .flatMap(result -> result.rows().stream())
        .filter(row -> row.kind().id().equals(contestant))
        .flatMap(row -> Optional.ofNullable(row.cells().get(figure)).stream())
        .findFirst()
        .orElseThrow();
  }

  private static final class Broken implements Contestant {
    @Override
    public boolean locked(String name, Runnable work) {
      throw new IllegalStateException("it broke");
    }

    @Override
    public void close() {}
  }
}
