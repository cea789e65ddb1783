package dev.holdfast.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.cli.command.UsageException;
import dev.holdfast.cli.report.Browser;
import dev.holdfast.cli.report.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report of a run of the bench. */
class BenchReportTest {
  @TempDir Path folder;

  @Test
  void theTableShowsTheMedianAndTheRatioToTheFloorWithItsSpread() {
    assertThat(BenchText.of(BenchSample.report(0)).lines())
        .startsWith(
            "N=1, a <free> lock",
            "  lock         p50, µs           × floor",
            "  the floor        100  1.00 (0.50–2.00)",
            "  ours, plain       75  0.75 (0.38–1.50)",
            "No lock is left out.");
  }

  @Test
  void theTableSaysWhereSomethingFailed() {
    assertThat(BenchText.of(BenchSample.report(7)))
        .contains("× floor  failed", "0.75 (0.38–1.50)       7");
  }

  @Test
  void theLastLineSaysWhatWasMeasuredOnButNoName() {
    assertThat(BenchText.of(BenchSample.report(0)).lines())
        .last()
        .isEqualTo(
            "Measured on 2026-03-04 on 2 processors (load 0.5 at the start), A JVM 17, heap up to"
                + " 512 MB, server 6.2.");
  }

  @Test
  void markdownHasATableForEachScenario() {
    assertThat(BenchMarkdown.of(BenchSample.report(0)))
        .contains(
            """
            ### N=1, a <free> lock

            | lock | p50, µs | × floor |
            | --- | ---: | ---: |
            | the floor | 100 | 1.00 (0.50–2.00) |
            | ours, plain | 75 | 0.75 (0.38–1.50) |

            No lock is left out.
            """);
  }

  @Test
  void csvHasALineForEachFigureAndQuotesWhatHasACommaInIt() {
    assertThat(BenchCsv.of(BenchSample.report(0)).split("\r\n", -1))
        .startsWith(
            "scenario,contestant,figure,median,least,most,ratio median,ratio least,ratio most")
        .contains(
            "uncontended-1,ours,\"p50, µs\",75.000,74.000,76.000,0.750,0.375,1.500",
            "uncontended-1,ours,failed,0.000,0.000,0.000,,,");
  }

  @Test
  void jsonHasTheNumbers() {
    assertThat(Json.of(BenchMembers.of(BenchSample.report(0))))
        .startsWith("{\"date\": \"2026-03-04T05:06:07Z\", \"processors\": 2")
        .contains("\"p50, µs\": {\"value\": [75.0, 74.0, 76.0], \"ratio\": [0.75, 0.375, 1.5]}");
  }

  @Test
  @Tag("slow")
  void inABrowserThePageHasAChartInWhichABarIsAsLongAsItsRatio() throws Exception {
    Path page = Files.writeString(folder.resolve("page.html"), BenchPage.of(BenchSample.report(0)));

    // The longest thing in it is twice the floor.
    assertThat(Browser.open(page, folder.resolve("profile")))
        .contains("<h2>N=1, a &lt;free&gt; lock</h2>")
        .contains("<i class=\"OURS\" style=\"width:37.50%\"></i>")
        .contains("<b style=\"left:18.75%;width:56.25%\"></b><u style=\"left:50.00%\"></u>")
        .contains("<td>ours, plain</td><td>75</td><td>0.75 (0.38–1.50)</td>")
        .doesNotContain("<free>");
  }

  @Test
  void thePageLoadsNothingAndItsDataCannotEndTheirElement() {
    assertThat(BenchPage.of(BenchSample.report(0)))
        .contains("default-src 'none'", "a \\u003cfree> lock")
        .doesNotContain("<free>", "http:", "https:", "{{");
  }

  @Test
  void writesThreeFilesAndSaysWhere() {
    BenchFiles files = BenchFiles.in(folder.resolve("a").resolve("b"));

    files.write(BenchSample.report(0));

    assertThat(files.text()).contains("bench.html").contains("bench.md").contains("bench.csv");
    assertThat(folder.resolve("a/b")).isDirectoryContaining("glob:**bench.html");
    assertThat(folder.resolve("a/b")).isDirectoryContaining("glob:**bench.md");
    assertThat(folder.resolve("a/b")).isDirectoryContaining("glob:**bench.csv");
  }

  @Test
  void unusableFolderIsReportedBeforeMeasuring() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");

    assertThatThrownBy(() -> BenchFiles.in(file))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("--report is " + file);
  }
}
