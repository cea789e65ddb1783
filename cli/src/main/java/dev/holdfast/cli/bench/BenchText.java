package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Machine;
import dev.holdfast.benchmarks.Report;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A run of the bench for a terminal. */
final class BenchText {
  private BenchText() {}

  static String of(Report report) {
    List<String> lines = new ArrayList<>();
    for (Report.Result result : report.results()) {
      lines.add(result.title());
      lines.addAll(table(BenchTable.of(result)));
      lines.addAll(result.notes());
      lines.add("");
    }
    lines.add(machine(report));
    return String.join(System.lineSeparator(), lines);
  }

  /** Returns one sentence about the machine. */
  static String machine(Report report) {
    Machine machine = report.machine();
    String versions =
        machine.versions().entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    return String.format(
        Locale.ROOT,
        "Measured on %s on %d processors (load %.1f at the start), %s, heap up to %,d MB, %s.",
        report.begun().atOffset(ZoneOffset.UTC).toLocalDate(),
        machine.processors(),
        machine.load(),
        machine.java(),
        machine.memoryMegabytes(),
        versions);
  }

  private static List<String> table(BenchTable table) {
    List<Integer> widths =
        IntStream.range(0, table.heads().size()).mapToObj(i -> width(table, i)).toList();
    List<String> lines = new ArrayList<>();
    lines.add(line(table.heads(), widths));
    table.lines().forEach(line -> lines.add(line(line, widths)));
    return lines;
  }

  private static int width(BenchTable table, int column) {
    return Math.max(
        table.heads().get(column).length(),
        table.lines().stream().mapToInt(line -> line.get(column).length()).max().orElse(0));
  }

  private static String line(List<String> cells, List<Integer> widths) {
    StringBuilder line = new StringBuilder("  ");
    for (int i = 0; i < cells.size(); i++) {
      String format = i == 0 ? "%-" + widths.get(i) + "s" : "  %" + widths.get(i) + "s";
      line.append(String.format(Locale.ROOT, format, cells.get(i)));
    }
    return line.toString().stripTrailing();
  }
}
