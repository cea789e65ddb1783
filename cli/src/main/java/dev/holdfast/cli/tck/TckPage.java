package dev.holdfast.cli.tck;

import dev.holdfast.cli.report.Page;
import dev.holdfast.tck.SpecRule;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A run of the kit as one page. Its script shows this data. */
final class TckPage {
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("d MMMM yyyy, HH:mm:ss z", Locale.ENGLISH);

  private TckPage() {}

  static String of(TckResult result) {
    Map<String, Object> data = new LinkedHashMap<>(result.members());
    data.put("verdict", result.verdict());
    data.put("state", state(result).id());
    data.put("date", DATE.format(result.begun().atZone(ZoneId.systemDefault())));
    data.put("tests", result.tests().size());
    data.put("rules", result.rules().stream().map(TckPage::rule).toList());
    data.put("troubles", tests(result.troubles()));
    return Page.of(TckPage.class, data);
  }

  /** Returns the colour of the page: a run that passed but showed little is not green. */
  private static TckOutcome state(TckResult result) {
    if (!result.isPassed()) {
      return TckOutcome.FAILED;
    }
    return result.isMostlyShown() ? TckOutcome.PASSED : TckOutcome.NOT_SHOWN;
  }

  private static Map<String, Object> rule(TckRule rule) {
    SpecRule spec = rule.rule();
    Map<String, Object> members = new LinkedHashMap<>(rule.members());
    members.put("section", spec.section());
    members.put("needs", List.copyOf(spec.capabilities()));
    members.put("text", spec.text());
    members.put("intent", spec.intent());
    members.put("reasons", rule.reasons());
    members.put("tests", tests(rule.tests()));
    return members;
  }

  private static List<Map<String, Object>> tests(List<TckTest> tests) {
    return tests.stream().map(TckPage::test).toList();
  }

  private static Map<String, Object> test(TckTest test) {
    Map<String, Object> members = new LinkedHashMap<>(test.members());
    members.put("name", test.title());
    members.put("trace", test.trace());
    return members;
  }
}
