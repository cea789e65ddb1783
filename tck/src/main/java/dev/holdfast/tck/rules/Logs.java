package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Keeps all that is logged by {@link System.Logger} or java.util.logging while it is open. */
final class Logs implements AutoCloseable {
  private static final List<String> DRIVERS =
      List.of("io.lettuce", "io.netty", "org.redisson", "reactor", "redis.clients");

  private static final Logger ROOT = Logger.getLogger("");

  private static final String PROBE = "the kit checks whether it sees log messages";

  private final ThreadGroup group = Thread.currentThread().getThreadGroup();
  private final Queue<Line> lines = new ConcurrentLinkedQueue<>();
  private final boolean debugs;
  private final Handler handler =
      new Handler() {
        private final SimpleFormatter formatter = new SimpleFormatter();

        @Override
        public void publish(LogRecord entry) {
          if (!isLoggable(entry) || isADriversOwn(entry)) {
            return;
          }
          boolean isOfThisTest = group.parentOf(Thread.currentThread().getThreadGroup());
          lines.add(new Line(entry.getLevel(), formatter.format(entry), isOfThisTest));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  /**
   * Tells whether a driver's library debugs, also in a class that extends one of its own and after
   * which it names the logger: it may show what it sends.
   */
  private static boolean isADriversOwn(LogRecord entry) {
    return entry.getLevel().intValue() < Level.INFO.intValue()
        && Stream.of(entry.getLoggerName(), entry.getSourceClassName())
            .filter(Objects::nonNull)
            .anyMatch(name -> DRIVERS.stream().anyMatch(name::startsWith));
  }

  private record Line(Level level, String text, boolean isOfThisTest) {}

  private Logs(boolean debugs) {
    this.debugs = debugs;
    handler.setLevel(debugs ? Level.ALL : Level.INFO);
    ROOT.addHandler(handler);
    if (debugs) {
      Debugging.begin();
    }
  }

  /** Closes a lease, which throws nothing and warns of its lock. */
  static void assertClosingWarns(TckFixture fixture, Lease lease) {
    try (Logs logs = kept()) {
      assertThatCode(lease::close).doesNotThrowAnyException();

      logs.needsToBeSeen();
      fixture
          .soon()
          .untilAsserted(
              () ->
                  assertThat(logs.warnings())
                      .as("warnings that are logged by System.Logger")
                      .anyMatch(line -> line.contains(lease.name())));
    }
  }

  static Logs kept() {
    return new Logs(false);
  }

  /** Keeps every level, except what the libraries of drivers say for debugging. */
  static Logs keptWhole() {
    return new Logs(true);
  }

  /** Leaves the test out where what is logged goes elsewhere. */
  void needsToBeSeen() {
    System.getLogger(Logs.class.getName()).log(System.Logger.Level.INFO, PROBE);
    if (lines().stream().noneMatch(line -> line.contains(PROBE))) {
      abort("the kit does not see log messages here");
    }
  }

  /** Returns one text for each entry, with its level, and its stack trace if it has one. */
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

  /** Returns the warnings of threads that this test, or what it calls, has started. */
  List<String> warningsOfThisTest() {
    return lines.stream()
        .filter(line -> line.isOfThisTest() && line.level().intValue() >= Level.WARNING.intValue())
        .map(Line::text)
        .toList();
  }

  @Override
  public void close() {
    if (debugs) {
      Debugging.end();
    }
    ROOT.removeHandler(handler);
  }

  /** The root's level, which tests that run at the same time change once. */
  private static final class Debugging {
    /** Drivers' loggers without a level of their own: they would log all that any test sends. */
    private static final List<Logger> QUIETED =
        DRIVERS.stream()
            .map(Logger::getLogger)
            .filter(logger -> logger.getLevel() == null)
            .toList();

    private static int tests;
    private static @Nullable Level before;

    static synchronized void begin() {
      if (tests == 0) {
        before = ROOT.getLevel();
        QUIETED.forEach(logger -> logger.setLevel(Level.INFO));
        ROOT.setLevel(Level.ALL);
      }
      tests++;
    }

    static synchronized void end() {
      tests--;
      if (tests == 0) {
        ROOT.setLevel(before);
        QUIETED.forEach(logger -> logger.setLevel(null));
      }
    }
  }
}
