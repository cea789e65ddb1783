package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockListener.Vote;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The metrics in the dashboard and in the alert rules against those that Prometheus sees. */
class DashboardTest {
  private static final Path FOLDER = Path.of("../docs/metrics");
  private static final Pattern NAME = Pattern.compile("\\bholdfast_\\w+");
  private static final Pattern SELECTOR = Pattern.compile("\\b(holdfast_\\w+)\\{([^}]*)}");
  private static final Pattern MATCHER = Pattern.compile("(\\w+)(=~|!=|=)\"([^\"]*)\"");
  private static final Pattern GROUPING =
      Pattern.compile("by \\(([^)]*)\\) \\(\\w*\\(?(holdfast_\\w+)");

  /** Prometheus adds these to each series. */
  private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @BeforeEach
  void bind() {
    ScriptedManager manager = new ScriptedManager();
    new HoldfastMetrics(manager, "m", Tags.empty()).bindTo(registry);
    manager.report(listener -> listener.onVote("h1", Vote.GRANTED));
  }

  @ParameterizedTest
  @ValueSource(strings = {"grafana.json", "alerts.yml"})
  void eachMetricIsExposed(String file) throws Exception {
    List<String> names = all(NAME, text(file)).map(MatchResult::group).distinct().toList();

    assertThat(names).isNotEmpty().allSatisfy(name -> assertThat(seriesOf(name)).isNotEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"grafana.json", "alerts.yml"})
  void eachSelectorMatchesASeries(String file) throws Exception {
    List<MatchResult> selectors = all(SELECTOR, text(file)).toList();

    assertThat(selectors).isNotEmpty();
    for (MatchResult selector : selectors) {
      List<String> series = seriesOf(selector.group(1));
      all(MATCHER, selector.group(2))
          .forEach(
              label ->
                  assertThat(series)
                      .as(selector.group())
                      .anyMatch(line -> line.contains(expected(label))));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"grafana.json", "alerts.yml"})
  void eachGroupingIsByALabelOfTheMetric(String file) throws Exception {
    List<MatchResult> groupings = all(GROUPING, text(file)).toList();

    assertThat(groupings).isNotEmpty();
    for (MatchResult grouping : groupings) {
      for (String label : List.of(grouping.group(1).split(", ", -1))) {
        assertThat(seriesOf(grouping.group(2)))
            .as(grouping.group())
            .allMatch(line -> OF_PROMETHEUS.contains(label) || line.contains(label + "=\""));
      }
    }
  }

  @Test
  void theDashboardShowsEveryMeter() throws Exception {
    Set<String> meters = new TreeSet<>();
    registry.getMeters().forEach(meter -> meters.add(meter.getId().getName().replace('.', '_')));

    assertThat(meters).hasSize(11);
    assertThat(meters).allSatisfy(meter -> assertThat(text("grafana.json")).contains(meter));
  }

  @Test
  void thereIsAnAlertForTheMarginForLossesAndForOutages() throws Exception {
    assertThat(all(Pattern.compile("alert: (\\w+)"), text("alerts.yml")).map(m -> m.group(1)))
        .containsExactly("HoldfastQuorumMarginZero", "HoldfastLeaseLost", "HoldfastOutage");
  }

  /**
   * A regular expression of the dashboard is a variable, and the scripted manager is one of many
   * backends: only these labels are compared.
   */
  private static String expected(MatchResult label) {
    String key = label.group(1) + "=\"";
    return label.group(2).equals("=~") || label.group(1).equals("backend")
        ? key
        : key + label.group(3) + "\"";
  }

  private List<String> seriesOf(String name) {
    return registry.scrape().lines().filter(line -> line.startsWith(name + "{")).toList();
  }

  private static Stream<MatchResult> all(Pattern pattern, String text) {
    return pattern.matcher(text).results();
  }

  private static String text(String file) throws Exception {
    return Files.readString(FOLDER.resolve(file)).replace("\\\"", "\"");
  }
}
