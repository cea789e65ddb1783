package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** Each thread has a lock of its own, which it acquires and releases. */
record DistinctNames(int nodes, int threads) implements Scenario {
  private static final Duration SLICE = Duration.ofMillis(200);

  @Override
  public String id() {
    return "distinct-" + nodes + "-" + threads;
  }

  @Override
  public String title() {
    return "N=%d, %s, each with a lock of its own".formatted(nodes, Crowd.words(threads));
  }

  @Override
  public int turns(Effort effort) {
    return effort.either(5, 2);
  }

  @Override
  public int warmUps(Effort effort) {
    return effort.either(4, 2);
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    Crowd.work(
        threads,
        SLICE.toNanos(),
        tally,
        (number, end, own) ->
            Crowd.takeAndGiveBack(subject.contestant(), subject.name(number), end, own));
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    return throughput(tally);
  }

  static Map<Figure, Double> throughput(Tally tally) {
    Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    figures.put(Figure.PER_SECOND, tally.perSecond());
    if (tally.count() > 0) {
      figures.put(Figure.P50, tally.micros(50));
      figures.put(Figure.P99, tally.micros(99));
    }
    figures.put(Figure.FAILED, tally.failures());
    return figures;
  }
}
