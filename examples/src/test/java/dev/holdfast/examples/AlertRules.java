package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The alert rules for Prometheus, evaluated between two scrapes of one manager. A quotient of two
 * increases, or each increase by itself, is compared with the limit of the rule. A rule may also
 * fire while twice one sum of gauges is at least another one and a third is above zero.
 */
final class AlertRules {
  private static final Pattern RULE =
      Pattern.compile("- alert: (\\w+)(.*?)labels:", Pattern.DOTALL);
  private static final Pattern INCREASE =
      Pattern.compile("increase\\((\\w+)(?:\\{(.*?)})?\\[5m]\\)");
  private static final Pattern HALF =
      Pattern.compile(
          "2 \\* sum by \\([^)]*\\) \\((\\w+)(?:\\{(.*?)})?\\)\\s+>=\\s+"
              + "sum by \\([^)]*\\) \\((\\w+)\\)\\s+\\)\\s+and on \\([^)]*\\)\\s+"
              + "sum by \\([^)]*\\) \\((\\w+)\\) > 0");
  private static final Pattern LIMIT = Pattern.compile("> ([0-9.]+)\\s");
  private static final Pattern LABEL = Pattern.compile("(\\w+)(=~|!=|=)\"([^\"]*)\"");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^(\\w+)\\{(.*)} (\\S+)$");

  private final Map<String, String> expressions;

  private AlertRules(Map<String, String> expressions) {
    this.expressions = expressions;
  }

  static AlertRules read(Path file) throws IOException {
    return new AlertRules(
        RULE.matcher(Files.readString(file))
            .results()
            .collect(
                Collectors.toMap(
                    rule -> rule.group(1), rule -> rule.group(2), (a, b) -> a, TreeMap::new)));
  }

  /** Returns the alerts whose expression is true for the changes between two scrapes. */
  List<String> firing(String before, String after) {
    return expressions.entrySet().stream()
        .filter(alert -> isFiring(alert.getValue(), before, after))
        .map(Map.Entry::getKey)
        .toList();
  }

  private static boolean isFiring(String expression, String before, String after) {
    Matcher limit = LIMIT.matcher(expression);
    assertThat(limit.find()).as(expression).isTrue();
    double most = Double.parseDouble(limit.group(1));
    List<Double> increases =
        INCREASE
            .matcher(expression)
            .results()
            .map(selector -> sum(after, selector) - sum(before, selector))
            .toList();
    assertThat(increases).as(expression).isNotEmpty();
    return expression.matches("(?s).*\\)\\s+/\\s+sum.*")
        ? increases.get(0) / increases.get(1) > most
        : increases.stream().anyMatch(increase -> increase > most) || isHalf(expression, after);
  }

  private static boolean isHalf(String expression, String scrape) {
    return HALF.matcher(expression)
        .results()
        .anyMatch(
            half ->
                2 * sum(scrape, half) >= sum(scrape, half.group(3), "")
                    && sum(scrape, half.group(4), "") > 0);
  }

  /** Returns the sum of the series that a selector matches. */
  private static double sum(String scrape, MatchResult selector) {
    return sum(scrape, selector.group(1), selector.group(2) == null ? "" : selector.group(2));
  }

  private static double sum(String scrape, String metric, String labels) {
    return SAMPLE
        .matcher(scrape)
        .results()
        .filter(sample -> sample.group(1).equals(metric))
        .filter(sample -> LABEL.matcher(labels).results().allMatch(label -> has(sample, label)))
        .mapToDouble(sample -> Double.parseDouble(sample.group(3)))
        .sum();
  }

  private static boolean has(MatchResult sample, MatchResult label) {
    boolean isEqual =
        Stream.of(label.group(3).split("\\|", -1))
            .anyMatch(value -> sample.group(2).contains(label.group(1) + "=\"" + value + "\""));
    return isEqual != label.group(2).equals("!=");
  }
}
