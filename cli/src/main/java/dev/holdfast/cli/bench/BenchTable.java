package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Cell;
import dev.holdfast.benchmarks.Figure;
import dev.holdfast.benchmarks.Report;
import dev.holdfast.benchmarks.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One scenario as a table.
 *
 * @param heads of the columns. The first is that of the contestants
 * @param lines a cell for each head
 */
record BenchTable(List<String> heads, List<List<String>> lines) {
  private static final int RATIO_DECIMALS = 2;

  static BenchTable of(Report.Result result) {
    List<Figure> figures = shown(result);
    List<String> heads = new ArrayList<>(List.of("lock"));
    for (Figure figure : figures) {
      heads.add(figure.label());
      if (isCompared(result, figure)) {
        heads.add("× floor");
      }
    }
    List<List<String>> lines =
        result.rows().stream().map(row -> line(result, row, figures)).toList();
    return new BenchTable(heads, lines);
  }

  /** Returns the columns. The failures are left out where nothing failed. */
  private static List<Figure> shown(Report.Result result) {
    return result.figures().stream()
        .filter(figure -> figure != Figure.FAILED || hasFailures(result))
        .toList();
  }

  private static boolean hasFailures(Report.Result result) {
    return result.rows().stream()
        .map(row -> row.cells().get(Figure.FAILED))
        .anyMatch(cell -> cell != null && cell.value().most() > 0);
  }

  static boolean isCompared(Report.Result result, Figure figure) {
    return result.rows().stream()
        .map(row -> row.cells().get(figure))
        .anyMatch(cell -> cell != null && cell.ratio().isPresent());
  }

  private static List<String> line(Report.Result result, Report.Row row, List<Figure> figures) {
    List<String> line = new ArrayList<>(List.of(row.kind().label()));
    for (Figure figure : figures) {
      Cell cell = row.cells().get(figure);
      line.add(cell == null ? "" : number(figure.of(cell.value()), figure.decimals()));
      if (isCompared(result, figure)) {
        line.add(cell == null ? "" : cell.ratio().map(BenchTable::spread).orElse(""));
      }
    }
    return line;
  }

  private static String spread(Spread ratio) {
    return "%s (%s–%s)"
        .formatted(
            number(ratio.median(), RATIO_DECIMALS),
            number(ratio.least(), RATIO_DECIMALS),
            number(ratio.most(), RATIO_DECIMALS));
  }

  static String number(double number, int decimals) {
    return String.format(Locale.ROOT, "%,." + decimals + "f", number);
  }
}
