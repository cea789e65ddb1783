package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.Kind.Ability;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Requests without threads, all of them sent before any has ended. */
record InFlight(int requests) implements Scenario {
  private static final int NODES = 5;
  private static final long LIMIT_SECONDS = 120;

  @Override
  public String id() {
    return "in-flight";
  }

  @Override
  public String title() {
    return "N=%d, %,d asynchronous requests at once, each for a lock of its own"
        .formatted(NODES, requests);
  }

  @Override
  public int nodes() {
    return NODES;
  }

  @Override
  public boolean admits(Kind kind) {
    return kind.abilities().contains(Ability.ASYNC);
  }

  @Override
  public void slice(Subject subject, Effort effort, Tally tally) throws Exception {
    List<CompletableFuture<Long>> all = new ArrayList<>();
    long begun = System.nanoTime();
    for (int i = 0; i < requests; i++) {
      long asked = System.nanoTime();
      all.add(
          subject
              .contestant()
              .lockedAsync(subject.name(i))
              .thenApply(released -> released ? System.nanoTime() - asked : -1)
              .exceptionally(e -> -1L));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
        .get(LIMIT_SECONDS, TimeUnit.SECONDS);
    tally.took(System.nanoTime() - begun);
    Tally.Own own = new Tally.Own();
    for (CompletableFuture<Long> each : all) {
      if (each.join() < 0) {
        own.failed();
      } else {
        own.took(each.join());
      }
    }
    tally.add(own);
  }

  @Override
  public Map<Figure, Double> figures(Tally tally) {
    return DistinctNames.throughput(tally);
  }
}
