package dev.holdfast.cli.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

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
 * The figures that each file of a report has.
 *
 * @param rules each rule's result
 * @param totals how many rules of a level have a result, by {@code MUST failed}
 * @param failures the text about each test that failed
 * @param tests how many there are, by result
 * @param about the URL, what is declared and undeclared, and the environment
 * @param seconds how long the tests of each rule took, and {@code all} of them
 */
record ReportFigures(
    Map<String, String> rules,
    Map<String, Long> totals,
    List<String> failures,
    Map<String, Long> tests,
    Map<String, String> about,
    Map<String, Double> seconds) {
  private static final List<String> RESULTS = List.of("passed", "failed", "not-shown");

  private static final Pattern TOTAL =
      Pattern.compile("<td [^>]*data-level=\"(\\w+)\" data-count=\"([a-z-]+)\">(\\d+)</td>");
  private static final Pattern RULE =
      Pattern.compile("<tr [^>]*data-rule=\"([^\"]+)\" [^>]*data-result=\"([a-z-]+)\"");
  private static final Pattern TEST = Pattern.compile("<li [^>]*data-test=\"([a-z-]+)\"");
  private static final Pattern FAILURE =
      Pattern.compile("data-test=\"failed\".*?<div class=\"why\">(.*?)</div>", Pattern.DOTALL);

  private static final Pattern FACT = Pattern.compile("<dt>(.*?)</dt><dd>(.*?)</dd>");
  private static final Pattern URL = Pattern.compile("<code id=\"url\">(.*?)</code>");
  private static final Pattern CHIPS = Pattern.compile("<ul class=\"chips (\\w+)\">(.*?)</ul>");
  private static final Pattern ALL_SECONDS = Pattern.compile("tests in ([\\d.]+) s</p>");
  private static final Pattern RULE_SECONDS =
      Pattern.compile(
          "<tr id=\"([A-Z]+-\\d+)\".*?<td class=\"number\">([\\d.]*)(?: s)?</td></tr>",
          Pattern.DOTALL);

  /** The same, except for what rounding does to times. */
  void assertSameAs(ReportFigures other) {
    assertThat(rules).isEqualTo(other.rules);
    assertThat(totals).isEqualTo(other.totals);
    assertThat(failures).isEqualTo(other.failures);
    assertThat(tests).isEqualTo(other.tests);
    assertThat(about).isEqualTo(other.about).hasSizeGreaterThan(3);
    assertThat(seconds.keySet()).isEqualTo(other.seconds.keySet()).hasSizeGreaterThan(1);
    seconds.forEach(
        (what, time) -> assertThat(time).as(what).isCloseTo(other.seconds.get(what), within(0.02)));
  }

  /**
   * Counts what the page shows.
   *
   * @param html after its script has run
   */
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
    Map<String, String> about = new TreeMap<>();
    all(URL, html).forEach(url -> about.put("url", plain(url.group(1))));
    for (MatchResult chips : all(CHIPS, html)) {
      about.put(chips.group(1), chips.group(2).replace("</li><li>", ", ").replaceAll("<.*?>", ""));
    }
    all(FACT, html).forEach(fact -> about.put(plain(fact.group(1)), plain(fact.group(2))));
    Map<String, Double> seconds = new TreeMap<>();
    all(ALL_SECONDS, html).forEach(time -> seconds.put("all", Double.valueOf(time.group(1))));
    all(RULE_SECONDS, html).stream()
        .filter(time -> !time.group(2).isEmpty())
        .forEach(time -> seconds.put(time.group(1), Double.valueOf(time.group(2))));
    return new ReportFigures(rules, totals, failures, tests, about, seconds);
  }

  /** Works them out of the single tests, and of nothing else. */
  static ReportFigures ofXml(String xml) throws Exception {
    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(xml)))
            .getDocumentElement();
    Map<String, String> rules = new TreeMap<>();
    Spec.rules().keySet().forEach(id -> rules.put(id, "not-shown"));
    Map<String, Long> tests = new TreeMap<>();
    List<String> failures = new ArrayList<>();
    Map<String, Double> seconds = new TreeMap<>();
    seconds.put("all", Double.valueOf(suite.getAttribute("time")));
    Map<String, String> about = new TreeMap<>();
    for (Element property : elements(suite, "property")) {
      if (!property.getAttribute("value").isEmpty()) {
        about.put(property.getAttribute("name"), property.getAttribute("value"));
      }
    }
    for (Element test : elements(suite, "testcase")) {
      List<Element> failed = elements(test, "failure");
      String result =
          !failed.isEmpty()
              ? "failed"
              : elements(test, "skipped").isEmpty() ? "passed" : "not-shown";
      failed.forEach(failure -> failures.add(failure.getAttribute("message")));
      tests.merge(result, 1L, Long::sum);
      ruleOf(test.getAttribute("name"))
          .ifPresent(
              id -> {
                rules.merge(id, result, ReportFigures::stronger);
                seconds.merge(id, Double.valueOf(test.getAttribute("time")), Double::sum);
              });
    }
    requireSums(suite, tests);
    Map<String, Long> totals = new TreeMap<>();
    for (String level : List.of("MUST", "SHOULD")) {
      for (String result : RESULTS) {
        totals.put(level + " " + result, count(rules, level, result));
      }
      totals.put(level + " all", RESULTS.stream().mapToLong(r -> count(rules, level, r)).sum());
    }
    return new ReportFigures(
        rules, totals, failures.stream().sorted().toList(), tests, about, seconds);
  }

  private static void requireSums(Element suite, Map<String, Long> tests) {
    assertThat(suite.getAttribute("failures")).isEqualTo("" + tests.getOrDefault("failed", 0L));
    assertThat(suite.getAttribute("skipped")).isEqualTo("" + tests.getOrDefault("not-shown", 0L));
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
    return List.of("failed", "passed", "not-shown").stream()
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
