package dev.holdfast.testsupport.stalls;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Optional;

/**
 * Watches the machine. Two things are evidence: a thread that does nothing but sleep woke late, and
 * the host took processor time away (Linux says so). Thread-safe.
 */
final class Stalls {
  /** Well above what a busy but healthy machine makes a thread wait for a processor. */
  private static final Duration STALL = Duration.ofMillis(100);

  /**
   * The part of all processors' time, over a whole test, after which the test shows no longer what
   * it was made for.
   */
  private static final double STOLEN_SHARE = 0.1;

  private static final long NAP_MILLIS = 5;
  private static final int MAX_REMEMBERED = 10_000;

  private final ProcessorTime processors;
  private final Deque<Late> late = new ArrayDeque<>();

  /**
   * The time at which the watching thread must wake. It may be the last one to go on after a stall.
   */
  private volatile long planned = Long.MAX_VALUE;

  /** Woken at a time of {@link System#nanoTime()}. */
  private record Late(long wokenAt, Duration by) {}

  /** The machine as it was. */
  record Mark(long nanos, ProcessorTime.Sample processors) {}

  Stalls(ProcessorTime processors) {
    this.processors = processors;
  }

  /** Has a thread watch from now on. */
  static Stalls watched() {
    Stalls stalls = new Stalls(ProcessorTime.ofThisMachine());
    Thread watch = new Thread(stalls::watch, "stalls");
    watch.setDaemon(true);
    watch.start();
    return stalls;
  }

  Mark mark() {
    return new Mark(System.nanoTime(), processors.sample());
  }

  /** Describes the stalls since then, for people. Empty if it ran as it should. */
  synchronized Optional<String> since(Mark mark) {
    long now = System.nanoTime();
    if (planned != Long.MAX_VALUE) {
      woke(planned, now);
    }
    Optional<Duration> longest =
        late.stream()
            .filter(one -> one.wokenAt() - mark.nanos() > 0)
            .map(Late::by)
            .max(Duration::compareTo);
    if (longest.isPresent()) {
      return Optional.of("an idle thread woke " + longest.get().toMillis() + " ms late");
    }
    double stolen = processors.sample().stolenSince(mark.processors());
    return stolen < STOLEN_SHARE
        ? Optional.empty()
        : Optional.of(
            String.format(Locale.ROOT, "the host took %.0f %% of the processors", 100 * stolen));
  }

  synchronized void woke(long due, long now) {
    Duration by = Duration.ofNanos(now - due);
    if (by.compareTo(STALL) >= 0) {
      late.addLast(new Late(now, by));
      if (late.size() > MAX_REMEMBERED) {
        late.removeFirst();
      }
    }
  }

  private void watch() {
    try {
      while (true) {
        planned = System.nanoTime() + Duration.ofMillis(NAP_MILLIS).toNanos();
        Thread.sleep(NAP_MILLIS);
        woke(planned, System.nanoTime());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
