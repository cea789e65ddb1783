package dev.holdfast.cli.demo;

import org.HdrHistogram.Histogram;

/** The counts of one worker so far. Safe for use by several threads. */
final class DemoTally {
  static final String READY = "ready";
  static final String GRANTED = "granted ";
  static final String WRITTEN = "written";
  static final String LOST = "lost";
  static final String OVERLAPPED = "overlapped";
  static final String OUTAGE = "outage";
  static final String DONE = "done";

  /** Waits, in microseconds, to three digits. */
  private final Histogram waits = newHistogram();

  private Counts counts = Counts.NONE;

  /**
   * Sums.
   *
   * @param written numbers that were changed and written back
   * @param lost leases that were found lost before the write, which then was left out
   */
  record Counts(long grants, long written, long lost, long overlaps, long outages) {
    static final Counts NONE = new Counts(0, 0, 0, 0, 0);

    Counts plus(Counts more) {
      return new Counts(
          grants + more.grants,
          written + more.written,
          lost + more.lost,
          overlaps + more.overlaps,
          outages + more.outages);
    }
  }

  static Histogram newHistogram() {
    return new Histogram(3);
  }

  synchronized void add(String event) {
    if (event.startsWith(GRANTED)) {
      waits.recordValue(Long.parseLong(event.substring(GRANTED.length())));
      counts = counts.plus(new Counts(1, 0, 0, 0, 0));
      return;
    }
    counts =
        counts.plus(
            switch (event) {
              case WRITTEN -> new Counts(0, 1, 0, 0, 0);
              case LOST -> new Counts(0, 0, 1, 0, 0);
              case OVERLAPPED -> new Counts(0, 0, 0, 1, 0);
              case OUTAGE -> new Counts(0, 0, 0, 0, 1);
              default -> Counts.NONE;
            });
  }

  synchronized Counts counts() {
    return counts;
  }

  synchronized void addWaitsTo(Histogram all) {
    all.add(waits);
  }
}
