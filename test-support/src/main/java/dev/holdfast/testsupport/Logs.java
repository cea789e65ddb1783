package dev.holdfast.testsupport;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Keeps all that is logged while it is open, by the client libraries as well. Thread-safe. */
public final class Logs implements AutoCloseable {
  private static final Logger ROOT = Logger.getLogger("");

  private final List<Entry> entries = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          StringWriter trace = new StringWriter();
          if (entry.getThrown() != null) {
            entry.getThrown().printStackTrace(new PrintWriter(trace));
          }
          String message = new SimpleFormatter().formatMessage(entry);
          entries.add(new Entry(entry.getLevel(), message, trace.toString()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private record Entry(Level level, String message, String trace) {}

  /** Listens from now on. */
  public Logs() {
    ROOT.addHandler(handler);
  }

  /** Returns the entries so far: the level, the message and the stack trace of each. */
  public List<String> messages() {
    return entries.stream()
        .map(entry -> entry.level() + " " + entry.message() + entry.trace())
        .toList();
  }

  /** Returns the messages so far that are warnings or worse, without level and stack trace. */
  public List<String> warnings() {
    return entries.stream()
        .filter(entry -> entry.level().intValue() >= Level.WARNING.intValue())
        .map(Entry::message)
        .toList();
  }

  @Override
  public void close() {
    ROOT.removeHandler(handler);
  }
}
