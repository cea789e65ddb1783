package dev.holdfast.cli.demo;

import java.io.PrintStream;
import java.util.Locale;
import java.util.stream.Collectors;

/** A line a second, where there is no terminal. */
final class DemoLines implements DemoScreen {
  private static final long EVERY_MILLIS = 1_000;

  private final PrintStream out;
  private long grantsBefore;

  DemoLines(PrintStream out) {
    this.out = out;
  }

  @Override
  public long everyMillis() {
    return EVERY_MILLIS;
  }

  @Override
  public boolean showsLocks() {
    return false;
  }

  @Override
  public void say(String text) {
    out.println(text);
  }

  @Override
  public void show(DemoView view) {
    long grants = view.total().grants();
    StringBuilder line = new StringBuilder();
    line.append(
        String.format("%3.0f s  %6d grants (+%d)", view.seconds(), grants, grants - grantsBefore));
    if (view.plan().locked()) {
      line.append(
          String.format(
              "  wait p50 %.1f ms, p99 %.1f ms  outages %d",
              view.waitMillis(50), view.waitMillis(99), view.total().outages()));
    }
    line.append("  overlaps ").append(view.total().overlaps());
    if (!view.nodes().isEmpty()) {
      line.append(
          view.nodes().stream()
              .map(state -> state.name().toLowerCase(Locale.ROOT))
              .collect(Collectors.joining(" ", "  nodes ", "")));
    }
    out.println(line);
    grantsBefore = grants;
  }

  @Override
  public void end(DemoView view) {}

  @Override
  public void close() {}
}
