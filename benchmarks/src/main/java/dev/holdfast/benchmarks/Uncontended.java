package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** One thread acquires and releases a lock again and again, without contention. */
record Uncontended(int nodes) implements Scenario {
  private static final int BLOCK = 200;

  /** The longest time of a block: a machine that is this slow needs no more figures. */
  private static final Duration LIMIT = Duration.ofMillis(500);

  @Override
  public String id() {
    return "uncontended-" + nodes;
  }

  @Override
  public String title() {
    return "N=" + nodes + ", 1 thread, acquire and release of a free lock";
  }

  @Override
  public int turns(Effort effort) {
    return effort.either(10, 4);
  }

  @Override
  public int warmUps(Effort effort) {
    return effort.either(5, 3);
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    String name = subject.name(0);
    // Histograms grow, which must not be taken for what the lock allocates.
    long[] times = new long[BLOCK];
    int count = 0;
    long allocated = Allocation.bytes();
    long begun = System.nanoTime();
    for (long from = begun; count < BLOCK && from - begun < LIMIT.toNanos(); count++) {
      boolean got = Crowd.attempt(subject.contestant(), name);
      long now = System.nanoTime();
      times[count] = got ? now - from : Tally.Own.FAILED;
      from = now;
    }
    tally.took(System.nanoTime() - begun);
    tally.allocated(Allocation.bytes() - allocated);
    Tally.Own own = Tally.Own.of(times, count);
    if (own.count() == 0) {
      // Says why.
      subject.contestant().locked(name, () -> {});
    }
    tally.add(own);
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    figures.put(Figure.P50, tally.micros(50));
    figures.put(Figure.P99, tally.micros(99));
    figures.put(Figure.ALLOCATED, tally.allocatedEach() / 1e3);
    figures.put(Figure.FAILED, tally.failures());
    return figures;
  }
}
