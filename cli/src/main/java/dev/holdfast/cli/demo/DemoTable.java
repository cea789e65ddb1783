package dev.holdfast.cli.demo;

import dev.holdfast.cli.terminal.LiveText;
import dev.holdfast.cli.terminal.Terminal;
import dev.holdfast.testnodes.TestNode;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table that is drawn over itself, on a terminal of 24 lines or more, best with 80 columns. */
final class DemoTable implements DemoScreen {
  private static final long EVERY_MILLIS = 250;

  /** More would push the table's top off the screen, where it cannot be drawn over. */
  private static final int MAX_WORKERS = 8;

  private static final String ESCAPE = "\u001b[";
  private static final String BOLD = "1";
  private static final String RED = "31";
  private static final String GREEN = "32";

  private final PrintStream out;
  private final boolean coloured;
  private final LiveText live;

  DemoTable(PrintStream out, boolean coloured) {
    this.out = out;
    this.coloured = coloured;
    live = new LiveText(out, Terminal.width());
  }

  @Override
  public long everyMillis() {
    return EVERY_MILLIS;
  }

  @Override
  public boolean showsLocks() {
    return true;
  }

  @Override
  public void say(String text) {
    out.println(text);
  }

  @Override
  public void show(DemoView view) {
    live.draw(lines(view));
  }

  @Override
  public void end(DemoView view) {
    show(view);
  }

  @Override
  public void close() {
    live.close();
  }

  private List<String> lines(DemoView view) {
    List<String> lines = new ArrayList<>();
    lines.add(
        paint(
            BOLD,
            String.format(
                "%-12s %8s %8s %8s %12s %9s",
                "worker", "grants", "per s", "outages", "leases lost", "overlaps")));
    view.workers().stream()
        .limit(MAX_WORKERS)
        .forEach(worker -> lines.add(row(worker.label(), worker.counts(), view.seconds())));
    int more = view.workers().size() - MAX_WORKERS;
    if (more > 0) {
      lines.add("and " + more + " more");
    }
    lines.add(row("all", view.total(), view.seconds()));
    if (!view.locks().isEmpty()) {
      lines.add("");
      lines.add(paint(BOLD, String.format("%-12s %-24s %s", "lock", "held by", "votes")));
      for (DemoView.Lock lock : view.locks()) {
        lines.add(String.format("%-12s %-24s %s", lock.name(), lock.holder(), lock.votes()));
      }
      lines.add("");
      lines.add(nodes(view.nodes()));
    }
    lines.add(
        String.format(
            "waits   p50 %.1f ms   p99 %.1f ms        %.0f s of %d",
            view.waitMillis(50), view.waitMillis(99), view.seconds(), view.plan().seconds()));
    return lines;
  }

  private String row(String label, DemoTally.Counts counts, double seconds) {
    String overlaps = String.format("%9d", counts.overlaps());
    return String.format(
        "%-12s %8d %8.1f %8d %12d %s",
        label,
        counts.grants(),
        counts.grants() / Math.max(seconds, 1),
        counts.outages(),
        counts.lost(),
        counts.overlaps() == 0 ? overlaps : paint(RED, overlaps));
  }

  private String nodes(List<TestNode.State> states) {
    StringBuilder line = new StringBuilder("nodes");
    for (int i = 0; i < states.size(); i++) {
      TestNode.State state = states.get(i);
      String text = String.format("%-6s", state.name().toLowerCase(Locale.ROOT));
      line.append("   ")
          .append(i)
          .append(' ')
          .append(paint(state == TestNode.State.UP ? GREEN : RED, text));
    }
    return line.toString();
  }

  private String paint(String colour, String text) {
    return coloured ? ESCAPE + colour + "m" + text + ESCAPE + "0m" : text;
  }
}
