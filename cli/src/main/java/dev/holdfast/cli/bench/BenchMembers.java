package dev.holdfast.cli.bench;

import dev.holdfast.benchmarks.Cell;
import dev.holdfast.benchmarks.Machine;
import dev.holdfast.benchmarks.Report;
import dev.holdfast.benchmarks.Spread;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A run of the bench as members of a JSON object. */
final class BenchMembers {
  private BenchMembers() {}

  static Map<String, Object> of(Report report) {
    Machine machine = report.machine();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("date", report.begun());
    members.put("processors", machine.processors());
    members.put("java", machine.java());
    members.put("load", machine.load());
    members.put("versions", machine.versions());
    members.put("terms", report.terms());
    members.put("scenarios", report.results().stream().map(BenchMembers::of).toList());
    return members;
  }

  private static Map<String, Object> of(Report.Result result) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("scenario", result.id());
    members.put("title", result.title());
    members.put("rounds", result.rounds());
    members.put("notes", result.notes());
    members.put("rows", result.rows().stream().map(BenchMembers::of).toList());
    return members;
  }

  private static Map<String, Object> of(Report.Row row) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("contestant", row.kind().id());
    members.put("label", row.kind().label());
    Map<String, Object> figures = new LinkedHashMap<>();
    row.cells().forEach((figure, cell) -> figures.put(figure.label(), of(cell)));
    members.put("figures", figures);
    return members;
  }

  private static Map<String, Object> of(Cell cell) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("value", of(cell.value()));
    cell.ratio().ifPresent(ratio -> members.put("ratio", of(ratio)));
    return members;
  }

  private static List<Double> of(Spread spread) {
    return List.of(spread.median(), spread.least(), spread.most());
  }
}
