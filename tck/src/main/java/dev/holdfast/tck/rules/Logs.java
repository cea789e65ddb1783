package dev.holdfast.tck.rules;

import static org.junit.jupiter.api.Assumptions.abort;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Keeps all that is logged by {@link System.Logger} or java.util.logging while it is open. */
final class Logs implements AutoCloseable {
  private static final List<String> DRIVERS =
      List.of("io.lettuce", "io.netty", "org.redisson", "reactor", "redis.clients");

  private static final String PROBE = "the kit checks whether it sees log messages";

  private final ThreadGroup group = Thread.currentThread().getThreadGroup();
  private final Logger root = Logger.getLogger("");
  private final Level level = root.getLevel();
  private final List<Line> lines = new CopyOnWriteArrayList<>();
  private final Handler handler =
      new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord entry) {
          if (isADriversOwn(entry)) {
            return;
          }
          boolean isOfThisRun = group.parentOf(Thread.currentThread().getThreadGroup());
          lines.add(new Line(entry.getLevel(), formatter.format(entry), isOfThisRun));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  /** Tells whether a driver's library debugs: it may show what it sends. */
  private static boolean isADriversOwn(LogRecord entry) {
    return entry.getLevel().intValue() < Level.INFO.intValue()
        && entry.getLoggerName() != null
        && DRIVERS.stream().anyMatch(entry.getLoggerName()::startsWith);
  }

  private record Line(Level level, String text, boolean isOfThisRun) {}

  private Logs() {
    root.addHandler(handler);
  }

  static Logs kept() {
    return new Logs();
  }

  /** Keeps debugging output as well, except that of the libraries of drivers. */
  static Logs keptFromDebug() {
    Logs logs = new Logs();
    logs.handler.setLevel(Level.FINE);
    logs.root.setLevel(Level.FINE);
    return logs;
  }

  /** Leaves the test out where what is logged goes elsewhere. */
  void needsToBeSeen() {
    System.getLogger(Logs.class.getName()).log(System.Logger.Level.INFO, PROBE);
    if (lines().stream().noneMatch(line -> line.contains(PROBE))) {
      abort("the kit does not see log messages here");
    }
  }

  /** One entry each, with its level, and its stack trace if it has one. */
  List<String> lines() {
    return lines.stream().map(Line::text).toList();
  }

  /** Returns the messages that are warnings, or worse. */
  List<String> warnings() {
    return lines.stream()
        .filter(line -> line.level().intValue() >= Level.WARNING.intValue())
        .map(Line::text)
        .toList();
  }

  /** Returns the warnings of threads that this run of the kit has started. */
  List<String> warningsOfThisRun() {
    return lines.stream()
        .filter(line -> line.isOfThisRun() && line.level().intValue() >= Level.WARNING.intValue())
        .map(Line::text)
        .toList();
  }

  @Override
  public void close() {
    root.setLevel(level);
    root.removeHandler(handler);
  }
}
