package dev.holdfast.drivertests;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** All that anybody logs while it is open, the client libraries included. */
public final class Logs implements AutoCloseable {
  private static final Logger ROOT = Logger.getLogger("");

  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          StringWriter text = new StringWriter();
          text.append(entry.getLevel() + " " + new SimpleFormatter().formatMessage(entry));
          if (entry.getThrown() != null) {
            entry.getThrown().printStackTrace(new PrintWriter(text));
          }
          messages.add(text.toString());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  /** Listens from now on. */
  public Logs() {
    ROOT.addHandler(handler);
  }

  /** Returns the messages so far: the level, the message and the stack trace of each. */
  public List<String> messages() {
    return List.copyOf(messages);
  }

  @Override
  public void close() {
    ROOT.removeHandler(handler);
  }
}
