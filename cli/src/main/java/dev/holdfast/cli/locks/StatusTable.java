package dev.holdfast.cli.locks;

import dev.holdfast.cli.backend.LockState;
import dev.holdfast.cli.terminal.LiveText;
import dev.holdfast.cli.terminal.Terminal;
import java.io.PrintStream;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.stream.Stream;

/** A few lines that are drawn over themselves. */
final class StatusTable implements StatusScreen {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  private final LiveText live;

  StatusTable(PrintStream out) {
    live = new LiveText(out, Terminal.width());
  }

  @Override
  public void show(LockState state) {
    String time = TIME.format(LocalTime.now(ZoneId.systemDefault()));
    live.draw(
        Stream.of(time + "  " + LockState.printable(state.name()), state.holder(), state.nodes())
            .toList());
  }

  @Override
  public void close() {
    live.close();
  }
}
