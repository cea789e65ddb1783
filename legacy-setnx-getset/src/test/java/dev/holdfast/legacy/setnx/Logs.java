package dev.holdfast.legacy.setnx;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The warnings that are logged while it is open. */
final class Logs implements AutoCloseable {
  private static final Logger ROOT = Logger.getLogger("");

  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
            warnings.add(new SimpleFormatter().formatMessage(entry));
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  Logs() {
    ROOT.addHandler(handler);
  }

  List<String> warnings() {
    return List.copyOf(warnings);
  }

  @Override
  public void close() {
    ROOT.removeHandler(handler);
  }
}
