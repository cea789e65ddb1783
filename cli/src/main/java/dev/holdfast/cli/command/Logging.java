package dev.holdfast.cli.command;

import dev.holdfast.cli.process.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Lets our own warnings and notices through, as single lines on stderr, and no others. */
public final class Logging {
  /** Held here, because the log manager forgets loggers without a strong reference. */
  private static final Logger OWN = Logger.getLogger("dev.holdfast");

  private static final StderrHandler HANDLER = new StderrHandler();

  private static final Logger ROOT = Logger.getLogger("");

  private Logging() {}

  /**
   * Prints our own. That a node is down is kept back until it is printed or dropped, because the
   * message of a failure names each node that had to do with it.
   */
  public static void show() {
    silence();
    HANDLER.holdOutagesBack();
    OWN.setLevel(Level.INFO);
    OWN.addHandler(HANDLER);
  }

  /** Prints which nodes are down, and from now on each that goes down. */
  public static void reportOutages() {
    HANDLER.takeOutages().forEach(Message::print);
  }

  /** Leaves out which nodes are down, and from now on prints each that goes down. */
  public static void forgetOutages() {
    HANDLER.takeOutages();
  }

  /** Prints nothing. */
  public static void silence() {
    LogManager.getLogManager().reset();
    ROOT.setLevel(Level.OFF);
    OWN.setLevel(Level.OFF);
  }

  /** Prints nothing, but leaves all to those who add handlers of their own. */
  public static void discard() {
    LogManager.getLogManager().reset();
  }

  private static final class StderrHandler extends Handler {
    private static final String OUTAGE = " is down: ";

    private final List<String> outages = new ArrayList<>();
    private boolean holdsBack;
    private final Formatter formatter =
        new Formatter() {
          @Override
          public String format(LogRecord line) {
            return formatMessage(line);
          }
        };

    @Override
    public void publish(LogRecord line) {
      String text = formatter.format(line);
      if (!isHeldBack(text)) {
        Message.print(text);
      }
    }

    synchronized void holdOutagesBack() {
      outages.clear();
      holdsBack = true;
    }

    /** Returns the messages that were held back, and holds no more back. */
    synchronized List<String> takeOutages() {
      List<String> all = List.copyOf(outages);
      outages.clear();
      holdsBack = false;
      return all;
    }

    private synchronized boolean isHeldBack(String text) {
      return holdsBack && text.contains(OUTAGE) && outages.add(text);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
