package dev.holdfast.cli.tck;

import static dev.holdfast.cli.report.Markup.escaped;

import dev.holdfast.LockCapability;
import dev.holdfast.cli.report.Page;
import dev.holdfast.tck.SpecRule;
import dev.holdfast.tck.SpecRule.Level;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A run of the kit as one page, which needs nothing but itself. */
final class TckPage {
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("d MMMM yyyy, HH:mm:ss z", Locale.ENGLISH);

  private static final List<TckOutcome> COLUMNS =
      List.of(TckOutcome.PASSED, TckOutcome.FAILED, TckOutcome.NOT_SHOWN);

  private final TckResult result;

  private TckPage(TckResult result) {
    this.result = result;
  }

  static String of(TckResult result) {
    return new TckPage(result).html();
  }

  private String html() {
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
        style-src 'unsafe-inline'; script-src 'unsafe-inline'">
        <title>%s</title>
        <style>
        %s</style>
        </head>
        <body>
        %s<div class="pair">
        %s%s</div>
        %s%s<script>
        %s</script>
        </body>
        </html>
        """
        .formatted(
            escaped(word() + ": " + result.subject().url() + " – Holdfast TCK"),
            Page.resource(TckPage.class, "report.css"),
            header(),
            totals() + capabilities(),
            environment(),
            troubles(),
            rules(),
            Page.resource(TckPage.class, "report.js"));
  }

  private String word() {
    return result.isPassed() ? "Passed" : "Failed";
  }

  private String header() {
    return """
        <header class="card verdict %s">
        <h1>Holdfast TCK</h1>
        <p class="outcome" id="verdict">%s</p>
        <p><code id="url">%s</code></p>
        <p class="dim"><time datetime="%s">%s</time>, %d tests in %s</p>
        </header>
        """
        .formatted(
            verdictClass(),
            escaped(result.verdict()),
            escaped(result.subject().url()),
            result.begun(),
            DATE.format(result.begun().atZone(ZoneId.systemDefault())),
            result.tests().size(),
            seconds(result.time()));
  }

  private String verdictClass() {
    String shown = result.isMostlyShown() ? "passed" : "passed not-shown";
    return result.isPassed() ? shown : "failed";
  }

  private String totals() {
    StringBuilder rows = new StringBuilder();
    for (Level level : result.levels()) {
      StringBuilder cells = new StringBuilder();
      StringBuilder bar = new StringBuilder();
      for (TckOutcome outcome : COLUMNS) {
        long count = result.count(level, outcome);
        cells.append(
            "<td class=\"number\" data-level=\"%s\" data-count=\"%s\">%d</td>"
                .formatted(level, outcome.id(), count));
        bar.append(
            "<i class=\"%2$s\" data-level=\"%1$s\" data-count=\"%2$s\" style=\"flex-grow: %3$d\"></i>"
                .formatted(level, outcome.id(), count));
      }
      long all = COLUMNS.stream().mapToLong(outcome -> result.count(level, outcome)).sum();
      rows.append(
          """
          <tr><th scope="row">%1$s</th>%2$s\
          <td class="number" data-level="%1$s" data-count="all">%4$d</td></tr>
          <tr class="bars"><td colspan="5"><div class="bar">%3$s</div></td></tr>
          """
              .formatted(level, cells, bar, all));
    }
    return """
        <div>
        <section class="card">
        <h2>Rules</h2>
        <table class="totals">
        <thead><tr><th></th>%s<th class="number">all</th></tr></thead>
        <tbody>
        %s</tbody>
        </table>
        </section>
        """
        .formatted(
            COLUMNS.stream()
                .map(outcome -> "<th class=\"number\">" + outcome.words() + "</th>")
                .collect(Collectors.joining()),
            rows);
  }

  private String capabilities() {
    return """
        <section class="card">
        <h2>Capabilities</h2>
        %s%s</section>
        </div>
        """
        .formatted(
            chips("declared", result.subject().declared()),
            chips("undeclared", result.subject().undeclared()));
  }

  private static String chips(String kind, Collection<LockCapability> capabilities) {
    return capabilities.isEmpty()
        ? ""
        : capabilities.stream()
            .map(capability -> "<li>" + capability + "</li>")
            .collect(
                Collectors.joining(
                    "",
                    "<div class=\"dim\">" + kind + "</div><ul class=\"chips " + kind + "\">",
                    "</ul>\n"));
  }

  private String environment() {
    return result.subject().facts().entrySet().stream()
        .map(
            fact ->
                "<dt>"
                    + escaped(fact.getKey())
                    + "</dt><dd>"
                    + escaped(fact.getValue())
                    + "</dd>\n")
        .collect(
            Collectors.joining(
                "",
                "<section class=\"card\">\n<h2>Environment</h2>\n<dl>\n",
                "</dl>\n</section>\n"));
  }

  private String troubles() {
    return result.troubles().isEmpty()
        ? ""
        : """
        <section class="card">
        <h2>The kit could not do all of its work</h2>
        %s</section>
        """
            .formatted(tests(result.troubles()));
  }

  private String rules() {
    Map<String, StringBuilder> sections = new LinkedHashMap<>();
    for (TckRule rule : result.rules()) {
      sections.computeIfAbsent(rule.rule().section(), s -> new StringBuilder()).append(row(rule));
    }
    String bodies =
        sections.entrySet().stream()
            .map(
                section ->
                    """
                    <tbody>
                    <tr class="section"><th colspan="4" scope="rowgroup">%s</th></tr>
                    %s</tbody>
                    """
                        .formatted(escaped(section.getKey()), section.getValue()))
            .collect(Collectors.joining());
    return """
        <main class="card">
        <div class="filter" hidden>%s</div>
        <table class="rules">
        <thead><tr><th>rule</th><th></th><th>result</th><th class="number">time</th></tr></thead>
        %s</table>
        </main>
        <footer>The rules are those of SPEC.md. A rule is failed if one of its tests is, and passed if none is \
        and one passed.</footer>
        """
        .formatted(filter(), bodies);
  }

  private static String filter() {
    StringBuilder buttons = new StringBuilder("<button type=\"button\" value=\"all\">all</button>");
    for (TckOutcome outcome : COLUMNS) {
      buttons.append(
          "<button type=\"button\" value=\"%s\">%s</button>"
              .formatted(outcome.id(), outcome.words()));
    }
    return buttons.toString();
  }

  private static String row(TckRule rule) {
    SpecRule spec = rule.rule();
    String result = rule.outcome().id();
    return """
        <tr id="%1$s" data-rule="%1$s" data-level="%2$s" data-result="%3$s">
        <td class="rule-id"><a href="#%1$s">%1$s</a><span class="level">%2$s</span></td>
        <td>%4$s%5$s<div class="intent">%6$s</div>
        %7$s</td>
        <td class="result %3$s">%8$s</td>
        <td class="number">%9$s</td>
        </tr>
        """
        .formatted(
            spec.id(),
            spec.level(),
            result,
            spec.capabilities().stream()
                .map(needed -> "<code>" + needed + "</code> ")
                .collect(Collectors.joining()),
            prose(spec.text()),
            prose(spec.intent()),
            details(rule),
            rule.outcome().words(),
            rule.tests().isEmpty() ? "" : seconds(rule.time()));
  }

  private static String details(TckRule rule) {
    int number = rule.tests().size();
    String reasons = escaped(String.join("; ", rule.reasons()));
    if (number == 0) {
      return "<div class=\"why\">" + reasons + "</div>\n";
    }
    String notShown =
        reasons.isEmpty() ? "" : ", " + rule.count(TckOutcome.NOT_SHOWN) + " not shown: " + reasons;
    return "<details%s><summary>%d %s%s</summary>\n%s</details>\n"
        .formatted(
            rule.outcome() == TckOutcome.FAILED ? " open" : "",
            number,
            number == 1 ? "test" : "tests",
            notShown,
            tests(rule.tests()));
  }

  private static String tests(List<TckTest> tests) {
    return tests.stream()
        .map(TckPage::test)
        .collect(Collectors.joining("", "<ul class=\"tests\">\n", "</ul>\n"));
  }

  private static String test(TckTest test) {
    return """
        <li class="%s" data-test="%s">%s <span class="result %s">%s</span> \
        <span class="dim">%s</span>%s%s</li>
        """
        .formatted(
            test.outcome().id(),
            test.outcome().id(),
            escaped(test.title()),
            test.outcome().id(),
            test.outcome().words(),
            seconds(test.time()),
            test.why().isEmpty() ? "" : "<div class=\"why\">" + escaped(test.why()) + "</div>",
            test.trace().isEmpty()
                ? ""
                : "<details><summary>stack trace</summary><pre>"
                    + escaped(test.trace())
                    + "</pre></details>");
  }

  /** SPEC.md has code between back quotes. */
  private static String prose(String text) {
    return escaped(text).replaceAll("`([^`]+)`", "<code>$1</code>");
  }

  private static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.2f s", time.toNanos() / 1e9);
  }
}
