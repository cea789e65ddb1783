package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Report;
import dev.holdfast.benchmarks.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A run of the bench as comma-separated values, a line for each figure. */
final class BenchCsv {
  private static final List<String> HEADS =
      List.of(
          "scenario",
          "contestant",
          "figure",
          "median",
          "least",
          "most",
          "ratio median",
          "ratio least",
          "ratio most");

  private BenchCsv() {}

  static String of(Report report) {
    List<String> lines = new ArrayList<>(List.of(line(HEADS.stream())));
    for (Report.Result result : report.results()) {
      for (Report.Row row : result.rows()) {
        row.cells()
            .forEach(
                (figure, cell) ->
                    lines.add(
                        line(
                            Stream.of(
                                    Stream.of(result.id(), row.kind().id(), figure.label()),
                                    numbers(cell.value()),
                                    cell.ratio()
                                        .map(BenchCsv::numbers)
                                        .orElse(Stream.of("", "", "")))
                                .flatMap(part -> part))));
      }
    }
    return String.join("\r\n", lines) + "\r\n";
  }

  private static Stream<String> numbers(Spread spread) {
    return Stream.of(spread.median(), spread.least(), spread.most())
        .map(number -> String.format(Locale.ROOT, "%.3f", number));
  }

  private static String line(Stream<String> values) {
    return values
        .map(value -> value.contains(",") ? "\"" + value.replace("\"", "\"\"") + "\"" : value)
        .collect(Collectors.joining(","));
  }
}
