package dev.holdfast.cli.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockCapability;
import dev.holdfast.cli.report.Browser;
import dev.holdfast.tck.Spec;
import dev.holdfast.tck.SpecRule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of {@code --report}, of a run in which everything happened. */
class TckReportTest {
  private static final String NASTY =
      "check \"<script>alert('1')</script>\" & ]]> <!-- é {{script}} \\u003c of \ud83d\udd12 \ud800\n\tnext\u0000line";

  private static final TckResult RESULT =
      new TckResult(
          new TckSubject(
              "redlock:x:redis://***@h1?a=<b>",
              Map.of("server's \"version\"", "<7.2> & more"),
              Set.of(LockCapability.EXTENSION)),
          Instant.parse("2026-01-02T03:04:05.678Z"),
          Duration.ofMillis(12_345),
          Set.of(),
          List.of(
              test("REL-1", "keeps <i>it</i>", TckOutcome.PASSED, ""),
              test("REL-1", "breaks it", TckOutcome.FAILED, NASTY),
              test("REL-2", "cannot be seen", TckOutcome.NOT_SHOWN, "no \"nodes\""),
              test("REL-3", "is partly seen", TckOutcome.NOT_SHOWN, "no clock"),
              test("REL-3", "is right", TckOutcome.PASSED, ""),
              test("LOSS-6", "is slow", TckOutcome.FAILED, "20 ms > 10 ms"),
              new TckTest(
                  List.of(),
                  "",
                  "the kit",
                  TckOutcome.FAILED,
                  "it did not end",
                  "java.lang.AssertionError: it did not end",
                  Duration.ZERO)),
          true);

  @TempDir Path folder;

  @Test
  void theXmlSaysWhatHappenedToEachTest() throws Exception {
    String xml = TckXml.of(RESULT);
    ReportFigures figures = ReportFigures.ofXml(xml);

    assertThat(xml).contains(" timestamp=\"2026-01-02T03:04:05\"", " time=\"12.345\"");

    assertThat(figures.tests())
        .containsExactlyInAnyOrderEntriesOf(Map.of("passed", 2L, "failed", 3L, "not-shown", 2L));
    assertThat(figures.failures())
        .anySatisfy(
            why ->
                assertThat(why)
                    .isEqualTo(NASTY.replace('\ud800', '\ufffd').replace('\u0000', '\ufffd')));
  }

  @Test
  @Tag("slow")
  void inABrowserThePageAgreesWithTheXmlAndShowsNoMarkupOfTests() throws Exception {
    String dom = Browser.open(written(TckPage.of(RESULT)), folder.resolve("profile"));

    ReportFigures.ofPage(dom).assertSameAs(ReportFigures.ofXml(TckXml.of(RESULT)));
    assertThat(ReportFigures.ofPage(dom).totals())
        .containsEntry("MUST failed", 1L)
        .containsEntry("SHOULD failed", 1L)
        .containsEntry("MUST passed", 1L)
        .containsEntry("MUST not-shown", musts() - 2);
    assertThat(dom)
        .contains("<title>Failed: redlock:x:redis://***@h1?a=&lt;b&gt; – Holdfast TCK</title>")
        .contains("<header class=\"card verdict failed\"", "<pre>java.lang.AssertionError: check")
        .contains("2 tests, 1 not shown: no clock", "<code>release()</code>");
    assertTextIsNeverMarkup(dom);
  }

  @Test
  void withoutItsScriptThePageNamesTheFileThatNeedsNone() {
    assertThat(TckPage.of(RESULT))
        .containsPattern("<noscript>.*" + TckReport.XML + ".*</noscript>");
  }

  private static void assertTextIsNeverMarkup(String dom) {
    assertThat(dom.split("<script", -1)).hasSize(3);
    assertThat(dom)
        .doesNotContain("<i>it</i>", "<b>", "<7.2>")
        .contains("keeps &lt;i&gt;it&lt;/i&gt;", "&lt;7.2&gt; &amp; more", "server's \"version\"");
  }

  @Test
  @Tag("slow")
  void aButtonLeavesTheRulesWithItsResult() throws Exception {
    String clicked =
        TckPage.of(RESULT)
            .replace(
                "</body>",
                "<script>document.querySelector('button[value=failed]').click()</script></body>");

    String dom = Browser.open(written(clicked), folder.resolve("profile"));

    assertThat(dom.split("<tr [^>]*data-result=\"failed\">", -1)).hasSize(3);
    assertThat(dom).doesNotContainPattern("<tr [^>]*data-result=\"failed\"[^>]*hidden");
    assertThat(dom).doesNotContainPattern("<tr [^>]*data-result=\"(passed|not-shown)\">");
    assertThat(dom).contains("<button type=\"button\" value=\"failed\" aria-pressed=\"true\">");
  }

  @Test
  void thePageLoadsNothing() {
    assertThat(TckPage.of(RESULT))
        .contains("default-src 'none'")
        .doesNotContainPattern("(src|href)=\"(?!#)")
        .doesNotContain("@import", "url(", "{{style}}", "{{data}}");
  }

  @Test
  void bothFilesAreWrittenIntoAFolderThatIsMade() throws Exception {
    Path report = folder.resolve("a/b");

    Path page = TckReport.in(report).write(RESULT);

    assertThat(page).isEqualTo(report.resolve("report.html"));
    assertThat(Files.readString(page)).isEqualTo(TckPage.of(RESULT));
    assertThat(Files.readString(report.resolve("TEST-holdfast-tck.xml")))
        .isEqualTo(TckXml.of(RESULT));
  }

  private Path written(String html) throws Exception {
    return Files.writeString(folder.resolve("page.html"), html);
  }

  private static long musts() {
    return Spec.rules().values().stream().filter(r -> r.level() == SpecRule.Level.MUST).count();
  }

  private static TckTest test(String rule, String name, TckOutcome outcome, String why) {
    return new TckTest(
        List.of(rule),
        "release",
        name,
        outcome,
        why,
        outcome == TckOutcome.FAILED ? "java.lang.AssertionError: " + why + "\n\tat X.x()" : "",
        Duration.ofMillis(7));
  }
}
