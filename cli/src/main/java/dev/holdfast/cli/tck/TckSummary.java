package dev.holdfast.cli.tck;

import dev.holdfast.tck.SpecRule.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The result of a run of the kit for a terminal, with the failures first. */
final class TckSummary {
  private static final String INDENT = "    ";
  private static final int WIDTH = 80;

  private static final String RED = "\u001b[31m";
  private static final String YELLOW = "\u001b[33m";
  private static final String GREEN = "\u001b[32m";
  private static final String PLAIN = "\u001b[0m";

  private final TckResult result;
  private final boolean coloured;
  private final List<String> lines = new ArrayList<>();

  private TckSummary(TckResult result, boolean coloured) {
    this.result = result;
    this.coloured = coloured;
  }

  static String of(TckResult result, boolean coloured) {
    TckSummary summary = new TckSummary(result, coloured);
    result.troubles().forEach(summary::failure);
    result.rules().stream()
        .filter(rule -> rule.outcome() == TckOutcome.FAILED)
        .forEach(summary::failed);
    summary.counts();
    summary.leftOut();
    summary.lines.add("");
    summary.lines.add(result.subject().url());
    summary.lines.add(
        String.format(
            "%s (%d tests, %.1f s)",
            summary.coloured(result.verdict(), colourOf(result)),
            result.tests().size(),
            result.time().toMillis() / 1e3));
    return String.join(System.lineSeparator(), summary.lines);
  }

  private void failed(TckRule rule) {
    lines.add("");
    lines.add(coloured("FAILED", RED) + "  " + rule.rule());
    rule.tests().stream()
        .filter(test -> test.outcome() == TckOutcome.FAILED)
        .forEach(this::failure);
  }

  private void failure(TckTest test) {
    lines.add("  " + test.title());
    test.why().lines().map(line -> line.isBlank() ? "" : INDENT + line).forEach(lines::add);
  }

  /**
   * Returns the colour of a result. A run that shows less than half of the rules is not simply
   * green.
   */
  private static String colourOf(TckResult result) {
    String passed = result.isMostlyShown() ? GREEN : YELLOW;
    return result.isPassed() ? passed : RED;
  }

  private String coloured(String text, String colour) {
    return coloured ? colour + text + PLAIN : text;
  }

  private void counts() {
    lines.add("");
    lines.add(String.format("%-8s%8s%8s%11s", "rules", "passed", "failed", "not shown"));
    for (Level level : result.levels()) {
      lines.add(
          String.format(
              "%-8s%8d%8d%11d",
              level,
              result.count(level, TckOutcome.PASSED),
              result.count(level, TckOutcome.FAILED),
              result.count(level, TckOutcome.NOT_SHOWN)));
    }
  }

  private void leftOut() {
    Map<String, List<String>> byReason = new LinkedHashMap<>();
    for (TckRule rule : result.rules()) {
      boolean partly = rule.count(TckOutcome.NOT_SHOWN) < rule.tests().size();
      String id = rule.rule().id() + (partly ? " (in part)" : "");
      rule.reasons()
          .forEach(reason -> byReason.computeIfAbsent(reason, r -> new ArrayList<>()).add(id));
    }
    byReason.remove(TckRule.NOT_ASKED_FOR);
    if (!byReason.isEmpty()) {
      lines.add("");
      lines.add("Not shown:");
    }
    byReason.forEach(
        (reason, ids) -> {
          lines.add("  " + reason + ":");
          fill(ids);
        });
  }

  /** Words separated by commas, in lines that fit a terminal. */
  private void fill(List<String> words) {
    StringBuilder line = new StringBuilder(INDENT);
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i) + (i < words.size() - 1 ? ", " : "");
      if (line.length() + word.length() > WIDTH) {
        lines.add(line.toString().stripTrailing());
        line = new StringBuilder(INDENT);
      }
      line.append(word);
    }
    lines.add(line.toString());
  }
}
