package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Report;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A run of the bench as Markdown. */
final class BenchMarkdown {
  private BenchMarkdown() {}

  static String of(Report report) {
    List<String> lines = new ArrayList<>();
    lines.add(BenchText.machine(report));
    lines.add("");
    report.terms().forEach(term -> lines.add("- " + term));
    for (Report.Result result : report.results()) {
      BenchTable table = BenchTable.of(result);
      lines.add("");
      lines.add("### " + result.title());
      lines.add("");
      lines.add(line(table.heads()));
      List<String> rule = new ArrayList<>(Collections.nCopies(table.heads().size(), "---:"));
      rule.set(0, "---");
      lines.add(line(rule));
      table.lines().forEach(line -> lines.add(line(line)));
      result.notes().forEach(note -> lines.addAll(List.of("", note)));
    }
    return String.join("\n", lines) + "\n";
  }

  private static String line(List<String> cells) {
    return "| "
        + String.join(" | ", cells.stream().map(c -> c.replace("|", "\\|")).toList())
        + " |";
  }
}
