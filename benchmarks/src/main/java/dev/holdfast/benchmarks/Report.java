package dev.holdfast.benchmarks;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The results of a run.
 *
 * @param begun when
 * @param machine where and with what
 * @param terms what was the same for all
 * @param results in the order of the scenarios
 */
public record Report(Instant begun, Machine machine, List<String> terms, List<Result> results) {
  Report with(Result next) {
    List<Result> more = new ArrayList<>(results);
    more.add(next);
    return new Report(begun, machine, terms, List.copyOf(more));
  }

  /**
   * One scenario.
   *
   * @param id by which it is chosen
   * @param title what was done
   * @param rounds how many were counted
   * @param rows the contestants
   * @param notes further facts: who could not take part, and why
   */
  public record Result(String id, String title, int rounds, List<Row> rows, List<String> notes) {
    /**
     * The figures that any contestant has.
     *
     * @return in the order of columns
     */
    public List<Figure> figures() {
      return rows.stream()
          .flatMap(row -> row.cells().keySet().stream())
          .distinct()
          .sorted()
          .toList();
    }
  }

  /**
   * One contestant.
   *
   * @param kind who
   * @param cells what was measured
   */
  public record Row(Kind kind, Map<Figure, Cell> cells) {}
}
