package dev.holdfast.cli;

import java.io.PrintStream;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.stream.Stream;

/** A few lines that are drawn over themselves, on a terminal of 80 columns. */
final class StatusTable implements StatusScreen {
  private static final int WIDTH = 79;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  private final LiveText live;

  StatusTable(PrintStream out) {
    live = new LiveText(out);
  }

  @Override
  public void show(LockState state) {
    String time = TIME.format(LocalTime.now(ZoneId.systemDefault()));
    live.draw(
        Stream.of(time + "  " + LockState.printable(state.name()), state.holder(), state.nodes())
            .map(StatusTable::fitting)
            .toList());
  }

  private static String fitting(String line) {
    return line.length() <= WIDTH ? line : line.substring(0, WIDTH - 3) + "...";
  }

  @Override
  public void close() {
    live.close();
  }
}
