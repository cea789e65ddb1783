package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.Map;

/** All threads want the same lock, and hold it for a millisecond. */
record OneName(int nodes, int threads) implements Scenario {
  private static final Duration SLICE = Duration.ofSeconds(3);
  private static final Duration QUICK_SLICE = Duration.ofSeconds(1);

  @Override
  public String id() {
    return "one-name-" + nodes + "-" + threads;
  }

  @Override
  public String title() {
    return "N=" + nodes + ", " + threads + " threads, one lock, held for 1 ms";
  }

  @Override
  public int warmUps(Effort effort) {
    return 1;
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    String name = subject.name(0);
    tally.roundTrip(subject.roundTripNanos());
    long before = subject.commandsSent();
    try (Lateness lateness = Lateness.watched()) {
      Crowd.work(
          threads,
          effort.either(SLICE, QUICK_SLICE).toNanos(),
          tally,
          (number, end, own) -> contend(subject.contestant(), name, end, own));
      tally.note(Figure.STALL, lateness.worstMillis());
    }
    tally.sent(subject.commandsSent() - before);
  }

  /** Acquires and releases one lock until the end. Records each wait and each hold when it ends. */
  static void contend(Contestant contestant, String name, long end, Tally.Own own)
      throws InterruptedException {
    while (System.nanoTime() < end) {
      long asked = System.nanoTime();
      try {
        boolean got =
            contestant.locked(
                name,
                () -> {
                  own.took(System.nanoTime() - asked);
                  own.held(Terms.hold());
                });
        if (!got) {
          own.failed();
        }
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        own.failed();
      }
    }
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    Map<Figure, Double> figures = waits(tally);
    if (tally.count() > 0) {
      double ideal = tally.idealMillis(threads);
      figures.put(Figure.WAIT_P99_IDEAL, tally.micros(99) / 1e3 / ideal);
      figures.put(Figure.WAIT_LONGEST_IDEAL, tally.longestMillis() / ideal);
    }
    return figures;
  }

  static Map<Figure, Double> waits(Tally tally) {
    Map<Figure, Double> figures = tally.noted();
    figures.put(Figure.GRANTS, tally.perSecond());
    if (tally.count() > 0) {
      figures.put(Figure.WAIT_P99, tally.micros(99) / 1e3);
      figures.put(Figure.WAIT_LONGEST, tally.longestMillis());
      figures.put(Figure.COMMANDS_EACH, tally.commandsEach());
    }
    figures.put(Figure.FAILED, tally.failures());
    return figures;
  }
}
