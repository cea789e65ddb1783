package dev.holdfast.it;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Keeps all that is logged while it is open. */
final class Logs implements AutoCloseable {
  private final Logger root = Logger.getLogger("");
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord entry) {
          lines.add(formatter.format(entry));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private Logs() {
    root.addHandler(handler);
  }

  static Logs kept() {
    return new Logs();
  }

  /** One entry each, with its level, and its stack trace if it has one. */
  List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    root.removeHandler(handler);
  }
}
