package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Cell;
import dev.holdfast.benchmarks.Figure;
import dev.holdfast.benchmarks.Report;
import dev.holdfast.benchmarks.Spread;
import dev.holdfast.cli.report.Page;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A run of the bench as one page, with a chart for each scenario. Its script shows this data. */
final class BenchPage {
  private static final int PERCENT = 100;

  private BenchPage() {}

  static String of(Report report) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("machine", BenchText.machine(report));
    data.put("terms", report.terms());
    data.put("results", report.results().stream().map(BenchPage::result).toList());
    return Page.of(BenchPage.class, data);
  }

  private static Map<String, Object> result(Report.Result result) {
    BenchTable table = BenchTable.of(result);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", result.id());
    members.put("title", result.title());
    // The first figure is the purpose of the scenario.
    members.put(
        "charts", result.figures().stream().limit(1).map(figure -> chart(result, figure)).toList());
    members.put("heads", table.heads());
    members.put("lines", table.lines());
    members.put("notes", result.notes());
    return members;
  }

  private static Map<String, Object> chart(Report.Result result, Figure figure) {
    boolean compared = BenchTable.isCompared(result, figure);
    double most =
        result.rows().stream()
            .flatMap(row -> spread(row, figure, compared).stream())
            .mapToDouble(Spread::most)
            .max()
            .orElse(1);
    List<Map<String, Object>> bars =
        result.rows().stream()
            .flatMap(
                row ->
                    spread(row, figure, compared)
                        .map(spread -> bar(row, figure, spread, compared, most))
                        .stream())
            .toList();
    return Map.of(
        "caption",
        figure.label() + (compared ? ", as a multiple of the floor's" : ""),
        "bars",
        bars);
  }

  private static Optional<Spread> spread(Report.Row row, Figure figure, boolean compared) {
    return Optional.ofNullable(row.cells().get(figure))
        .flatMap(cell -> compared ? cell.ratio() : Optional.of(cell).map(Cell::value));
  }

  private static Map<String, Object> bar(
      Report.Row row, Figure figure, Spread spread, boolean compared, double most) {
    double shown = figure.of(spread);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("label", row.kind().label());
    members.put("family", row.kind().family());
    members.put("width", percent(shown / most));
    members.put("left", percent(spread.least() / most));
    members.put("span", percent((spread.most() - spread.least()) / most));
    members.put("floor", compared ? percent(1 / most) : "");
    members.put("number", BenchTable.number(shown, compared ? 2 : figure.decimals()));
    return members;
  }

  private static String percent(double part) {
    return String.format(Locale.ROOT, "%.2f%%", PERCENT * part);
  }
}
