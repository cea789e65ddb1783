package dev.holdfast.cli.tck;

import dev.holdfast.LockCapability;
import dev.holdfast.cli.report.Markup;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A run of the kit as JUnit XML, as build servers read it. */
final class TckXml {
  private static final String SUITE = "holdfast-tck";

  private static final DateTimeFormatter TIMESTAMP =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss").withZone(ZoneOffset.UTC);

  private TckXml() {}

  static String of(TckResult result) {
    List<TckTest> tests = result.tests();
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.append("<testsuite");
    attribute(xml, "name", SUITE);
    attribute(xml, "tests", String.valueOf(tests.size()));
    attribute(xml, "failures", String.valueOf(count(tests, TckOutcome.FAILED)));
    attribute(xml, "errors", "0");
    attribute(xml, "skipped", String.valueOf(count(tests, TckOutcome.NOT_SHOWN)));
    attribute(xml, "time", seconds(result.time()));
    attribute(xml, "timestamp", TIMESTAMP.format(result.begun()));
    xml.append(">\n  <properties>\n");
    property(xml, "url", result.subject().url());
    property(xml, "declared", names(result.subject().declared()));
    property(xml, "undeclared", names(result.subject().undeclared()));
    result.subject().facts().forEach((heading, text) -> property(xml, heading, text));
    xml.append("  </properties>\n");
    tests.forEach(test -> append(xml, test));
    return xml.append("</testsuite>\n").toString();
  }

  private static void append(StringBuilder xml, TckTest test) {
    String rules = test.rules().isEmpty() ? "" : String.join(", ", test.rules()) + ": ";
    xml.append("  <testcase");
    attribute(
        xml,
        "classname",
        test.group().isEmpty() ? SUITE : SUITE + "." + test.group().replace(' ', '-'));
    attribute(xml, "name", rules + test.name());
    attribute(xml, "time", seconds(test.time()));
    switch (test.outcome()) {
      case FAILED -> {
        xml.append(">\n    <failure");
        attribute(xml, "type", test.trace().replaceFirst("(?s)[:\\s].*", ""));
        attribute(xml, "message", test.why());
        xml.append(">").append(Markup.escaped(test.trace()));
        xml.append("</failure>\n  </testcase>\n");
      }
      case NOT_SHOWN -> {
        xml.append(">\n    <skipped");
        attribute(xml, "message", test.why());
        xml.append("/>\n  </testcase>\n");
      }
      case PASSED -> xml.append("/>\n");
    }
  }

  private static long count(List<TckTest> tests, TckOutcome outcome) {
    return tests.stream().filter(test -> test.outcome() == outcome).count();
  }

  private static void property(StringBuilder xml, String name, String value) {
    xml.append("    <property");
    attribute(xml, "name", name);
    attribute(xml, "value", value);
    xml.append("/>\n");
  }

  private static void attribute(StringBuilder xml, String name, String value) {
    xml.append(' ').append(name).append("=\"").append(Markup.escaped(value)).append('"');
  }

  private static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.3f", time.toNanos() / 1e9);
  }

  private static String names(Collection<LockCapability> capabilities) {
    return capabilities.stream().map(Enum::name).collect(Collectors.joining(", "));
  }
}
