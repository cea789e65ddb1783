package dev.holdfast.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** All scenarios, in the order in which they are run and shown. */
final class Scenarios {
  private static final int MAX_NODES = 5;
  private static final int CROWD = 10_000;
  private static final int LEASES = 20_000;
  private static final int QUICK_LEASES = 2_000;
  private static final Duration LEASES_TIME = Duration.ofMinutes(5);

  /** Longer than the ttl. */
  private static final Duration QUICK_LEASES_TIME = Duration.ofSeconds(40);

  private Scenarios() {}

  /** Returns the scenarios. A quick run leaves out those between two others. */
  static List<Scenario> all(boolean quick) {
    List<Scenario> all = new ArrayList<>();
    numbers(quick, 1, 3, MAX_NODES).forEach(nodes -> all.add(new Uncontended(nodes)));
    for (int nodes : new int[] {1, MAX_NODES}) {
      numbers(quick, 1, 8, 32).forEach(threads -> all.add(new DistinctNames(nodes, threads)));
      all.add(new DistinctNames(nodes, 128));
    }
    all.add(new VirtualThreads(MAX_NODES, CROWD));
    all.add(new OneName(1, 16));
    (quick ? IntStream.of(16, 256) : IntStream.of(2, 16, 64, 256))
        .forEach(threads -> all.add(new OneName(MAX_NODES, threads)));
    all.add(new Processes(MAX_NODES, 4, 4));
    for (Trouble trouble : Trouble.values()) {
      all.add(new TroubledNode(trouble));
    }
    numbers(quick, 1, 1_000, CROWD).forEach(threads -> all.add(new Waiters(MAX_NODES, threads)));
    all.add(new Waiters(1, 1_000));
    all.add(
        quick
            ? new KeptAlive(QUICK_LEASES, QUICK_LEASES_TIME)
            : new KeptAlive(LEASES, LEASES_TIME));
    all.add(new InFlight(CROWD));
    all.add(new FirstLock(MAX_NODES));
    return all;
  }

  /** Returns all numbers, or for a quick run only the first and the last one. */
  private static IntStream numbers(boolean quick, int... all) {
    return quick ? IntStream.of(all[0], all[all.length - 1]) : IntStream.of(all);
  }
}
