package dev.holdfast.cli.compare;

import java.nio.charset.Charset;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The result of a comparison.
 *
 * @param begun when
 * @param rows in the order in which they are shown
 */
record CompareResult(Instant begun, CompareVersions versions, List<Row> rows) {
  private static final String DASH =
      Charset.defaultCharset().newEncoder().canEncode('–') ? "–" : "-";

  /** One lock in one scenario. */
  record Row(CompareScenario scenario, CompareLock lock, CompareCells cells) {}

  String text() {
    List<String> lines = new ArrayList<>();
    lines.add(line("", "", "two owners", "how long", "grants", "commands"));
    lines.add(line("scenario", "lock", "at once?", "unavailable", "a second", "a grant"));
    CompareScenario before = null;
    for (Row row : rows) {
      lines.add(line(row, row.scenario() == before ? "" : row.scenario().label()));
      before = row.scenario();
    }
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "Measured on %s on a machine of %d processors, with",
            begun.atOffset(ZoneOffset.UTC).toLocalDate(),
            versions.processors()));
    lines.add(versions.text());
    lines.add("Scenarios and columns are explained by: holdfast compare --help");
    return String.join(System.lineSeparator(), lines);
  }

  private static String line(Row row, String scenario) {
    CompareCells cells = row.cells();
    return line(
        scenario,
        row.lock().label(),
        owners(cells),
        cell(cells.unavailable(), CompareResult::time),
        cell(cells.grantsPerSecond(), grants -> String.format(Locale.ROOT, "%.0f", grants)),
        cell(cells.commandsPerGrant(), commands -> String.format(Locale.ROOT, "%.1f", commands)));
  }

  private static String line(Object... columns) {
    return String.format(Locale.ROOT, "%-18s %-13s %-14s %-11s %9s %9s", columns).stripTrailing();
  }

  private static String owners(CompareCells cells) {
    return cell(cells.twoOwners(), CompareResult::yesOrNo)
        + cells.holderKnows().map(knows -> knows ? ", it knows" : ", unaware").orElse("");
  }

  private static <T> String cell(Optional<T> measured, Function<T, String> text) {
    return measured.map(text).orElse(DASH);
  }

  private static String yesOrNo(boolean is) {
    return is ? "YES" : "no";
  }

  private static String time(Duration time) {
    return time.compareTo(Duration.ofMillis(100)) < 0
        ? time.toMillis() + " ms"
        : String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1e3);
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("date", begun.truncatedTo(ChronoUnit.SECONDS));
    members.put("versions", versions.members());
    members.put("processors", versions.processors());
    members.put("rows", rows.stream().map(CompareResult::members).toList());
    return members;
  }

  private static Map<String, Object> members(Row row) {
    Map<String, Object> members = new LinkedHashMap<>();
    CompareCells cells = row.cells();
    members.put("scenario", row.scenario().label());
    members.put("lock", row.lock().label());
    cells.twoOwners().ifPresent(two -> members.put("twoOwners", two));
    cells.holderKnows().ifPresent(knows -> members.put("holderKnows", knows));
    cells.unavailable().ifPresent(time -> members.put("unavailableMillis", time.toMillis()));
    cells.grantsPerSecond().ifPresent(grants -> members.put("grantsPerSecond", round(grants)));
    cells.commandsPerGrant().ifPresent(each -> members.put("commandsPerGrant", round(each)));
    return members;
  }

  private static double round(double number) {
    return Math.round(number * 10) / 10.0;
  }
}
