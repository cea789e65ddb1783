package dev.holdfast.cli;

import static dev.holdfast.cli.Markup.escaped;

import dev.holdfast.benchmarks.Cell;
import dev.holdfast.benchmarks.Figure;
import dev.holdfast.benchmarks.Report;
import dev.holdfast.benchmarks.Spread;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** A run of the bench as one page, with a chart for each scenario; it needs nothing but itself. */
final class BenchPage {
  private static final int PERCENT = 100;

  private static final String STYLE =
      """
      :root { color-scheme: light dark; --ours: #2a78d6; --peer: #8a8983; --floor: #1baf7a; }
      body { font: 15px/1.45 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
      .scroll { overflow-x: auto; }
      th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap; }
      th:first-child, td:first-child { text-align: left; font-weight: normal; }
      thead th { border-bottom: 1px solid; font-weight: 600; }
      section { margin: 2.5rem 0; }
      .chart { display: grid; grid-template-columns: max-content 1fr max-content; gap: .25rem .75rem;
        align-items: center; margin: 1rem 0; }
      .bar { position: relative; height: 1rem; }
      .bar i { position: absolute; left: 0; top: 0; bottom: 0; min-width: 1px; border-radius: 0 3px 3px 0; }
      .bar b { position: absolute; top: 50%; height: 2px; background: currentcolor; opacity: .6; }
      .bar u { position: absolute; top: -.2rem; bottom: -.2rem; width: 1px; background: currentcolor; }
      .OURS { background: var(--ours); } .PEER { background: var(--peer); } .FLOOR { background: var(--floor); }
      .key span { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; }
      .dim { opacity: .75; }
      """;

  private BenchPage() {}

  static String of(Report report) {
    return """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>Holdfast bench</title>
    <style>
    %s</style>
    </head>
    <body>
    <h1>Holdfast bench</h1>
    <p class="dim">%s</p>
    <ul class="dim">%s</ul>
    <p class="key"><span class="OURS"></span>Holdfast<span class="PEER"></span>others\
    <span class="FLOOR"></span>bare drivers; the thin line goes from the least to the most, \
    the upright one is the floor</p>
    %s</body>
    </html>
    """
        .formatted(
            STYLE,
            escaped(BenchText.machine(report)),
            report.terms().stream()
                .map(term -> "<li>" + escaped(term) + "</li>")
                .collect(Collectors.joining()),
            report.results().stream().map(BenchPage::section).collect(Collectors.joining()));
  }

  private static String section(Report.Result result) {
    return """
    <section id="%s">
    <h2>%s</h2>
    %s<div class="scroll">%s</div>
    %s</section>
    """
        .formatted(
            escaped(result.id()),
            escaped(result.title()),
            charted(result).map(figure -> chart(result, figure)).orElse(""),
            table(BenchTable.of(result)),
            result.notes().stream()
                .map(note -> "<p class=\"dim\">" + escaped(note) + "</p>\n")
                .collect(Collectors.joining()));
  }

  /** The first figure, which is what the scenario is for. */
  private static Optional<Figure> charted(Report.Result result) {
    return result.figures().stream().findFirst();
  }

  private static String chart(Report.Result result, Figure figure) {
    boolean compared = BenchTable.isCompared(result, figure);
    double most =
        result.rows().stream()
            .flatMap(row -> spread(row, figure, compared).stream())
            .mapToDouble(Spread::most)
            .max()
            .orElse(1);
    String bars =
        result.rows().stream()
            .flatMap(
                row ->
                    spread(row, figure, compared)
                        .map(spread -> bar(row, figure, spread, compared, most))
                        .stream())
            .collect(Collectors.joining());
    return "<p>%s</p>\n<div class=\"chart\">%s</div>\n"
        .formatted(
            escaped(figure.label() + (compared ? ", as a multiple of the floor's" : "")), bars);
  }

  private static Optional<Spread> spread(Report.Row row, Figure figure, boolean compared) {
    return Optional.ofNullable(row.cells().get(figure))
        .flatMap(cell -> compared ? cell.ratio() : Optional.of(cell).map(Cell::value));
  }

  private static String bar(
      Report.Row row, Figure figure, Spread spread, boolean compared, double most) {
    double shown = figure.of(spread);
    return """
    <span>%s</span><span class="bar"><i class="%s" style="width:%s"></i>\
    <b style="left:%s;width:%s"></b>%s</span><span>%s</span>
    """
        .formatted(
            escaped(row.kind().label()),
            row.kind().family(),
            percent(shown / most),
            percent(spread.least() / most),
            percent((spread.most() - spread.least()) / most),
            compared ? "<u style=\"left:" + percent(1 / most) + "\"></u>" : "",
            BenchTable.number(shown, compared ? 2 : figure.decimals()));
  }

  private static String percent(double part) {
    return String.format(Locale.ROOT, "%.2f%%", PERCENT * part);
  }

  private static String table(BenchTable table) {
    return "<table><thead><tr>"
        + cells("th", table.heads())
        + "</tr></thead><tbody>"
        + table.lines().stream()
            .map(line -> "<tr>" + cells("td", line) + "</tr>")
            .collect(Collectors.joining("\n"))
        + "</tbody></table>";
  }

  private static String cells(String tag, List<String> cells) {
    return cells.stream()
        .map(cell -> "<" + tag + ">" + escaped(cell) + "</" + tag + ">")
        .collect(Collectors.joining());
  }
}
