package dev.holdfast.cli.compare;

import dev.holdfast.LockContendedException;
import dev.holdfast.LockOutageException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Puts each kind of lock through each scenario. */
final class Comparison {
  private static final List<CompareScenario> SCENARIOS = List.of(CompareScenario.values());

  private final int seconds;
  private volatile String progress = "";

  /**
   * @param seconds how long contention is measured, for each lock
   */
  Comparison(int seconds) {
    this.seconds = seconds;
  }

  /** Returns the measurement in progress. */
  String progress() {
    return progress;
  }

  CompareResult run() throws Exception {
    Instant begun = Instant.now();
    List<CompareResult.Row> rows = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(CompareLock.values().length);
    try {
      for (CompareScenario scenario : SCENARIOS) {
        rows.addAll(
            scenario == CompareScenario.CONTENTION ? oneByOne(scenario) : all(scenario, threads));
      }
    } finally {
      threads.shutdownNow();
    }
    return new CompareResult(begun, CompareVersions.found(), rows);
  }

  /** Measures all locks at the same time, because they mostly wait, and not for each other. */
  private List<CompareResult.Row> all(CompareScenario scenario, ExecutorService threads)
      throws Exception {
    say(scenario, "all locks");
    List<Callable<CompareResult.Row>> work =
        scenario.locks().stream()
            .<Callable<CompareResult.Row>>map(lock -> () -> row(scenario, lock))
            .toList();
    List<CompareResult.Row> rows = new ArrayList<>();
    for (Future<CompareResult.Row> row : threads.invokeAll(work)) {
      rows.add(result(row));
    }
    return rows;
  }

  /** Measures one after the other, where measurements would take each other's processors. */
  private List<CompareResult.Row> oneByOne(CompareScenario scenario) throws Exception {
    List<CompareResult.Row> rows = new ArrayList<>();
    for (CompareLock lock : scenario.locks()) {
      say(scenario, lock.label());
      rows.add(row(scenario, lock));
    }
    return rows;
  }

  private CompareResult.Row row(CompareScenario scenario, CompareLock lock) throws Exception {
    return new CompareResult.Row(
        scenario, lock, measuredInTwo(() -> scenario.measure(lock, seconds)));
  }

  /** Repeats a measurement that failed once, because the machine may have stalled. */
  static CompareCells measuredInTwo(Callable<CompareCells> measurement) throws Exception {
    try {
      return measurement.call();
    } catch (LockOutageException | LockContendedException notInTime) {
      return again(measurement);
    }
  }

  private static CompareCells again(Callable<CompareCells> measurement) throws Exception {
    try {
      return measurement.call();
    } catch (LockContendedException notInTime) {
      throw notMeasured(String.valueOf(notInTime.getMessage()));
    }
  }

  private static <T> T result(Future<T> future) throws Exception {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  /**
   * Returns the failure for an event that did not happen in time, as on a machine that is too busy.
   */
  static LockOutageException notMeasured(String why) {
    return new LockOutageException("not measured, run it again: " + why, Map.of(), false);
  }

  private void say(CompareScenario scenario, String what) {
    progress =
        String.format(
            Locale.ROOT,
            "%d of %d scenarios: %s: %s",
            SCENARIOS.indexOf(scenario) + 1,
            SCENARIOS.size(),
            scenario.label(),
            what);
  }
}
