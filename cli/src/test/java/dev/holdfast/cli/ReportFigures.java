package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tck.Spec;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/**
 * What can be read from a report, whichever of its files one reads.
 *
 * @param rules each rule's result
 * @param totals how many rules of a level have a result, by {@code MUST failed}
 * @param failures what is said of each test that failed
 * @param tests how many there are, by result
 */
record ReportFigures(
    Map<String, String> rules,
    Map<String, Long> totals,
    List<String> failures,
    Map<String, Long> tests) {
  private static final List<String> RESULTS = List.of("passed", "failed", "skipped", "not-run");

  private static final Pattern TOTAL =
      Pattern.compile("<td [^>]*data-level=\"(\\w+)\" data-count=\"([a-z-]+)\">(\\d+)</td>");
  private static final Pattern RULE =
      Pattern.compile("<tr [^>]*data-rule=\"([^\"]+)\" [^>]*data-result=\"([a-z-]+)\"");
  private static final Pattern TEST = Pattern.compile("<li [^>]*data-test=\"([a-z-]+)\"");
  private static final Pattern FAILURE =
      Pattern.compile("data-test=\"failed\".*?<div class=\"why\">(.*?)</div>", Pattern.DOTALL);

  /** Counts what the page shows. */
  static ReportFigures ofPage(String html) {
    Map<String, Long> totals = new TreeMap<>();
    for (MatchResult total : all(TOTAL, html)) {
      totals.put(total.group(1) + " " + total.group(2), Long.valueOf(total.group(3)));
    }
    Map<String, String> rules = new TreeMap<>();
    all(RULE, html).forEach(rule -> rules.put(rule.group(1), rule.group(2)));
    Map<String, Long> tests = new TreeMap<>();
    all(TEST, html).forEach(test -> tests.merge(test.group(1), 1L, Long::sum));
    List<String> failures =
        all(FAILURE, html).stream().map(failure -> plain(failure.group(1))).sorted().toList();
    return new ReportFigures(rules, totals, failures, tests);
  }

  /** Works them out of the single tests, and of nothing else. */
  static ReportFigures ofXml(String xml) throws Exception {
    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(xml)))
            .getDocumentElement();
    Map<String, String> rules = new TreeMap<>();
    Spec.rules().keySet().forEach(id -> rules.put(id, "not-run"));
    Map<String, Long> tests = new TreeMap<>();
    List<String> failures = new ArrayList<>();
    for (Element test : elements(suite, "testcase")) {
      List<Element> failed = elements(test, "failure");
      String result =
          !failed.isEmpty() ? "failed" : elements(test, "skipped").isEmpty() ? "passed" : "skipped";
      failed.forEach(failure -> failures.add(failure.getAttribute("message")));
      tests.merge(result, 1L, Long::sum);
      ruleOf(test.getAttribute("name"))
          .ifPresent(id -> rules.merge(id, result, ReportFigures::stronger));
    }
    requireSums(suite, tests);
    Map<String, Long> totals = new TreeMap<>();
    for (String level : List.of("MUST", "SHOULD")) {
      for (String result : RESULTS) {
        totals.put(level + " " + result, count(rules, level, result));
      }
      totals.put(level + " all", RESULTS.stream().mapToLong(r -> count(rules, level, r)).sum());
    }
    return new ReportFigures(rules, totals, failures.stream().sorted().toList(), tests);
  }

  private static void requireSums(Element suite, Map<String, Long> tests) {
    assertThat(suite.getAttribute("failures")).isEqualTo("" + tests.getOrDefault("failed", 0L));
    assertThat(suite.getAttribute("skipped")).isEqualTo("" + tests.getOrDefault("skipped", 0L));
    assertThat(suite.getAttribute("tests"))
        .isEqualTo("" + tests.values().stream().mapToLong(Long::longValue).sum());
  }

  private static long count(Map<String, String> rules, String level, String result) {
    return rules.entrySet().stream()
        .filter(rule -> Spec.rule(rule.getKey()).level().name().equals(level))
        .filter(rule -> rule.getValue().equals(result))
        .count();
  }

  private static String stronger(String one, String other) {
    return List.of("failed", "passed", "skipped", "not-run").stream()
        .filter(result -> result.equals(one) || result.equals(other))
        .findFirst()
        .orElseThrow();
  }

  private static Optional<String> ruleOf(String name) {
    Matcher prefix = Pattern.compile("([A-Z]+-\\d+): .*").matcher(name);
    return prefix.matches() ? Optional.of(prefix.group(1)) : Optional.empty();
  }

  private static List<Element> elements(Element parent, String name) {
    NodeList found = parent.getElementsByTagName(name);
    return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
  }

  private static List<MatchResult> all(Pattern pattern, String html) {
    return pattern.matcher(html).results().toList();
  }

  private static String plain(String html) {
    return html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&#10;", "\n")
        .replace("&#9;", "\t")
        .replace("&nbsp;", "\u00a0")
        .replace("&amp;", "&");
  }
}
