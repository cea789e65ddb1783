package dev.holdfast.benchmarks;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The scenario {@link DistinctNames} with thousands of virtual threads, left out before Java 21.
 */
record VirtualThreads(int nodes, int threads) implements Scenario {
  private static final Duration SLICE = Duration.ofSeconds(1);

  /** Not there in Java 17, for which this is compiled. */
  private static final Optional<Method> EXECUTOR = executor();

  private static Optional<Method> executor() {
    try {
      return Optional.of(Executors.class.getMethod("newVirtualThreadPerTaskExecutor"));
    } catch (NoSuchMethodException e) {
      return Optional.empty();
    }
  }

  @Override
  public String id() {
    return "virtual-" + nodes;
  }

  @Override
  public String title() {
    return "N=%d, %,d virtual threads, each with a lock of its own".formatted(nodes, threads);
  }

  @Override
  public boolean admits(Kind kind) {
    return EXECUTOR.isPresent();
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    ExecutorService crowd = (ExecutorService) EXECUTOR.orElseThrow().invoke(null);
    try {
      Crowd.work(
          crowd,
          threads,
          SLICE.toNanos(),
          tally,
          (number, end, own) ->
              Crowd.takeAndGiveBack(subject.contestant(), subject.name(number), end, own));
    } finally {
      crowd.shutdown();
    }
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    return DistinctNames.throughput(tally);
  }

  @Override
  public List<String> notes() {
    return EXECUTOR.isPresent()
        ? List.of()
        : List.of(
            "Left out: Java " + Runtime.version().feature() + " has no virtual threads, 21 has.");
  }
}
