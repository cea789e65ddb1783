package dev.holdfast.cli;

import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Lets our own warnings and notices through, as single lines on stderr, and nobody else's. */
final class Logging {
  /** Held here, because the log manager forgets loggers that nobody holds. */
  private static final Logger OWN = Logger.getLogger("dev.holdfast");

  private static final Logger ROOT = Logger.getLogger("");

  private Logging() {}

  /** Prints our own. */
  static void show() {
    silence();
    OWN.setLevel(Level.INFO);
    OWN.addHandler(new StderrHandler());
  }

  /** Prints nothing. */
  static void silence() {
    LogManager.getLogManager().reset();
    ROOT.setLevel(Level.OFF);
    OWN.setLevel(Level.OFF);
  }

  private static final class StderrHandler extends Handler {
    private final Formatter formatter =
        new Formatter() {
          @Override
          public String format(LogRecord line) {
            return formatMessage(line);
          }
        };

    @Override
    public void publish(LogRecord line) {
      Message.print(formatter.format(line));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
