package dev.holdfast.benchmarks;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The results of a run.
 *
 * @param begun the time of its beginning
 * @param machine the machine and its software
 * @param terms the conditions that were the same for all contestants
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
   * @param id the name by which it is chosen
   * @param title a description
   * @param rounds the number of rounds that were counted
   * @param rows the contestants
   * @param notes further facts: contestants that could not take part, and the reasons
   */
  public record Result(String id, String title, int rounds, List<Row> rows, List<String> notes) {
    /**
     * Returns the figures that at least one contestant has.
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
   * @param kind its kind of lock
   * @param cells its results
   */
  public record Row(Kind kind, Map<Figure, Cell> cells) {}
}
